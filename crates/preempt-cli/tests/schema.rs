//! The JSON Schema of the guide (`docs/src/result.schema.json`), and a validator for the part of the language that it uses. It is
//! stricter than the language: a property that the schema does not name is a mistake, and so is a keyword that is not understood here.

use serde_json::Value;
use std::path::Path;

pub struct Schema(Value);

impl Schema {
    pub fn of_results() -> Schema {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/result.schema.json");
        let text = std::fs::read_to_string(file).expect("the guide has a schema");
        Schema(serde_json::from_str(&text).expect("the schema is JSON"))
    }

    /// Everything that is wrong, each with its place.
    pub fn mistakes(&self, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        self.check(&self.0, value, "", &mut found);
        found
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        let rules = schema.as_object().unwrap_or_else(|| panic!("{at}: a schema is an object"));
        let mut wrong = |why: String| found.push(format!("{at}: {why}"));
        for (keyword, rule) in rules {
            match keyword.as_str() {
                "$schema"
                | "$id"
                | "$defs"
                | "title"
                | "description"
                | "properties"
                | "additionalProperties"
                | "items"
                | "$ref" => {}
                "const" if rule != value => wrong(format!("{value} is not {rule}")),
                "enum" if !list(rule).contains(value) => wrong(format!("{value} is none of {rule}")),
                "type" if !types(rule).iter().any(|name| is_a(value, name)) => {
                    wrong(format!("{value} is not of type {rule}"));
                }
                "minimum" if value.as_f64() < rule.as_f64() => wrong(format!("{value} is less than {rule}")),
                "pattern" => {
                    assert_eq!(rule, ":[0-9]+:[0-9]+$", "this validator knows one pattern");
                    if !value.as_str().is_some_and(ends_in_a_place) {
                        wrong(format!("{value} does not end in :line:column"));
                    }
                }
                "required" => {
                    for name in list(rule).iter().filter_map(Value::as_str) {
                        if value.is_object() && value.get(name).is_none() {
                            wrong(format!("`{name}` is missing"));
                        }
                    }
                }
                "anyOf" => {
                    let fails = |way: &Value| {
                        let mut mistakes = Vec::new();
                        self.check(way, value, at, &mut mistakes);
                        mistakes
                    };
                    let ways: Vec<Vec<String>> = list(rule).iter().map(fails).collect();
                    if !ways.iter().any(Vec::is_empty) {
                        found.extend(ways.into_iter().max_by_key(Vec::len).unwrap_or_default());
                        return;
                    }
                }
                "const" | "enum" | "type" | "minimum" => {}
                other => panic!("{at}: this validator does not know `{other}`"),
            }
        }
        if let Some(name) = rules.get("$ref").and_then(Value::as_str) {
            let target = name.strip_prefix('#').and_then(|path| self.0.pointer(path));
            self.check(target.unwrap_or_else(|| panic!("there is no {name}")), value, at, found);
        }
        if let (Some(items), Some(all)) = (rules.get("items"), value.as_array()) {
            for (number, item) in all.iter().enumerate() {
                self.check(items, item, &format!("{at}/{number}"), found);
            }
        }
        let known = rules.get("properties").and_then(Value::as_object);
        if known.is_some() || rules.contains_key("additionalProperties") {
            for (name, field) in value.as_object().into_iter().flatten() {
                let rule = known.and_then(|known| known.get(name)).or(rules.get("additionalProperties"));
                match rule {
                    Some(rule) => self.check(rule, field, &format!("{at}/{name}"), found),
                    None => found.push(format!("{at}: the schema has no `{name}`")),
                }
            }
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn types(rule: &Value) -> Vec<&str> {
    rule.as_str().into_iter().chain(list(rule).iter().filter_map(Value::as_str)).collect()
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("there is no type `{other}`"),
    }
}

fn ends_in_a_place(text: &str) -> bool {
    let mut parts = text.rsplitn(3, ':');
    let is_number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_some()
}

/// What every engine prints is compared with the schema in `json_page.rs`; here the validator itself.
#[test]
fn the_validator_notices_what_is_wrong() {
    let schema = Schema(
        serde_json::from_str(
            r##"{ "type": "object", "properties": { "a": { "anyOf": [ { "$ref": "#/$defs/n" }, { "type": "null" } ] },
            "b": { "type": "array", "items": { "enum": ["x", "y"] } }, "c": { "pattern": ":[0-9]+:[0-9]+$" } },
            "required": ["a"], "$defs": { "n": { "type": "integer", "minimum": 2 } } }"##,
        )
        .expect("JSON"),
    );
    let mistakes = |text: &str| schema.mistakes(&serde_json::from_str(text).expect("JSON")).len();
    for right in [r#"{"a": 2}"#, r#"{"a": null, "b": ["x", "y"]}"#, r#"{"a": 3, "c": "f:1:2"}"#] {
        assert_eq!(mistakes(right), 0, "{right}");
    }
    for wrong in [
        "{}",
        r#"{"a": 1}"#,
        r#"{"a": "2"}"#,
        r#"{"a": 2, "b": ["z"]}"#,
        r#"{"a": 2, "d": 1}"#,
        "[]",
        r#"{"a": 2, "c": "f:1"}"#,
    ] {
        assert_ne!(mistakes(wrong), 0, "{wrong}");
    }
}
