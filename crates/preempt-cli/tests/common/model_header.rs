//! The lines of a model's header that say what to expect of it; `models.rs` has their grammar.

pub struct Header {
    pub expected: Expected,
    pub states: u64,
    pub transitions: u64,
    /// Preemptions, and the states that need no more.
    pub bounded: Vec<(u64, u64)>,
    pub properties: Vec<Property>,
    pub warnings: Vec<String>,
}

#[derive(Debug, PartialEq)]
pub enum Expected {
    Holds,
    Violated { kind: String, preemptions: u64, steps: u64 },
}

pub struct Property {
    pub name: String,
    pub holds: bool,
    pub holds_if_fair: bool,
}

const KINDS: [&str; 9] = [
    "assertion",
    "deadlock",
    "runtime-error",
    "never",
    "ltl",
    "acceptance",
    "non-progress",
    "trace-assertion",
    "exclusive",
];

/// Properties that no formula or claim states: cycles through accept labels, and around progress labels.
const ACCEPTANCE: &str = "acceptance";
pub const NON_PROGRESS: &str = "non-progress";

impl Header {
    pub fn read(name: &str, text: &str) -> Result<Header, String> {
        let (mut expected, mut plain) = (None, None);
        let (mut bounded, mut properties, mut warnings) = (Vec::new(), Vec::<Property>::new(), Vec::new());
        let mut stated = Vec::new();
        let mut at_the_top = true;
        for (index, line) in text.lines().enumerate() {
            let fail = |why: &str| format!("{name}:{}: {why}: {line}", index + 1);
            at_the_top &= line.starts_with("//");
            if let Some(name) = formula_or_claim(line) {
                stated.push(name.to_string());
            }
            let Some((keyword, rest)) = directive(line) else { continue };
            if !at_the_top {
                return Err(fail("stands below the header"));
            }
            let malformed = || fail("malformed");
            match keyword {
                "expect" => {
                    let value = Expected::read(rest).ok_or_else(malformed)?;
                    if expected.replace(value).is_some() {
                        return Err(fail("said twice"));
                    }
                }
                "plain" => {
                    let value = pairs(rest, ["states", "transitions"]).ok_or_else(malformed)?;
                    if plain.replace(value).is_some() {
                        return Err(fail("said twice"));
                    }
                }
                "bounded" => {
                    for pair in rest.split_whitespace() {
                        bounded.push(bounded_states(pair).ok_or_else(malformed)?);
                    }
                }
                "property" => {
                    let property = Property::read(rest).ok_or_else(malformed)?;
                    if properties.iter().any(|other| other.name == property.name) {
                        return Err(fail("said twice"));
                    }
                    properties.push(property);
                }
                _ if rest.is_empty() => return Err(malformed()),
                _ => warnings.push(rest.to_string()),
            }
        }
        for property in &properties {
            if !stated.contains(&property.name)
                && ![ACCEPTANCE, NON_PROGRESS].contains(&property.name.as_str())
            {
                return Err(format!("{name}: there is no formula or claim `{}`", property.name));
            }
        }
        for stated in stated {
            if !properties.iter().any(|property| property.name == stated) {
                return Err(format!("{name}: no `// property {stated}:` line"));
            }
        }
        let expected = expected.ok_or_else(|| format!("{name}: no `// expect:` line"))?;
        let [states, transitions] = plain.ok_or_else(|| format!("{name}: no `// plain:` line"))?;
        Ok(Header { expected, states, transitions, bounded, properties, warnings })
    }
}

/// The keyword of a directive and what follows it.
fn directive(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("//")?.trim();
    if let Some(rest) = line.strip_prefix("property ") {
        return Some(("property", rest.trim()));
    }
    let (keyword, rest) = line.split_once(':')?;
    ["expect", "plain", "bounded", "warns"].contains(&keyword).then(|| (keyword, rest.trim()))
}

/// The name of the formula or claim that starts in this line.
fn formula_or_claim(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let keyword = words.next()?;
    let name = words.next()?.trim_end_matches('{');
    match keyword {
        "ltl" | "never" if !name.is_empty() => Some(name),
        "trace" | "notrace" if name.is_empty() => Some("trace"),
        _ => None,
    }
}

impl Expected {
    fn read(text: &str) -> Option<Expected> {
        if text == "holds" {
            return Some(Expected::Holds);
        }
        let (kind, cost) = text.strip_prefix("violated ")?.split_once(' ')?;
        let [preemptions, steps] = pairs(cost, ["preemptions", "steps"])?;
        KINDS.contains(&kind).then(|| Expected::Violated { kind: kind.into(), preemptions, steps })
    }
}

impl Property {
    fn read(text: &str) -> Option<Property> {
        let (name, verdict) = text.split_once(": ")?;
        let (holds, holds_if_fair) = match verdict {
            "holds" => (true, true),
            "holds under weak fairness" => (false, true),
            "violated" => (false, false),
            _ => return None,
        };
        (!name.is_empty()).then(|| Property { name: name.into(), holds, holds_if_fair })
    }
}

/// `first=1 second=2`
fn pairs(text: &str, names: [&str; 2]) -> Option<[u64; 2]> {
    let mut words = text.split_whitespace();
    let mut number = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=')?.parse().ok();
    let numbers = [number(names[0])?, number(names[1])?];
    words.next().is_none().then_some(numbers)
}

/// `2=48128`
fn bounded_states(text: &str) -> Option<(u64, u64)> {
    let (bound, states) = text.split_once('=')?;
    Some((bound.parse().ok()?, states.parse().ok()?))
}
