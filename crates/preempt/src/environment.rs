//! What the environment says about a search: it wins over the code, so that CI can search further.

use crate::checker::Checker;
use preempt_stateless::Strategy;
use std::str::FromStr;
use std::time::Duration;

impl Checker {
    /// The checker with what the variables say. Those that are empty say nothing.
    pub(crate) fn overridden(
        mut self,
        read: impl Fn(&str) -> Option<String>,
        place: &str,
    ) -> Result<Checker, String> {
        let read = |name: &str| read(name).filter(|value| !value.is_empty());
        if let Some(limit) = limit("PREEMPT_MAX_PREEMPTIONS", &read)? {
            self.limits.preemptions = limit;
        }
        if let Some(limit) = limit("PREEMPT_MAX_EXECUTIONS", &read)? {
            self.limits.executions = limit;
        }
        if let Some(limit) = limit("PREEMPT_MAX_DURATION", &read)? {
            self.limits.time = limit.map(Duration::from_secs);
        }
        if let Some(limit) = limit("PREEMPT_MAX_STEPS", &read)? {
            self.limits.steps = limit.unwrap_or(usize::MAX);
        }
        if let Some(limit) = limit("PREEMPT_FAIR_BOUND", &read)? {
            self.limits.fair = limit;
        }
        if let Some(limit) = limit("PREEMPT_SPURIOUS", &read)? {
            self.spurious = limit.unwrap_or(u32::MAX);
        }
        if let Some(limit) = limit("PREEMPT_THREADS", &read)? {
            self.threads = limit.unwrap_or(1);
        }
        if let Some(name) = read("PREEMPT_STRATEGY") {
            self.strategy = strategy(&name)?;
        }
        if let Some(limit) = limit("PREEMPT_WATCHDOG", &read)? {
            self.watchdog = limit.map(Duration::from_secs);
        }
        // A schedule that names a check is for that one; one that names none is for all.
        let replay = read("PREEMPT_REPLAY");
        let replay = replay.and_then(|value| match value.rsplit_once('=') {
            Some((named, schedule)) => (named == place).then(|| schedule.to_string()),
            None => Some(value),
        });
        self.replay = replay.or(self.replay);
        Ok(self)
    }
}

/// `Some(None)` lifts the limit, `None` leaves it.
fn limit<T: FromStr>(
    name: &str,
    read: &impl Fn(&str) -> Option<String>,
) -> Result<Option<Option<T>>, String> {
    match read(name).as_deref() {
        None => Ok(None),
        Some("none") => Ok(Some(None)),
        Some(value) => match value.parse() {
            Ok(number) => Ok(Some(Some(number))),
            Err(_) => Err(format!("{name}={value} is neither a number nor `none`")),
        },
    }
}

/// By name, with a seed for random ones.
fn strategy(text: &str) -> Result<Strategy, String> {
    let (name, seed) = text.split_once(':').map_or((text, None), |(name, seed)| (name, Some(seed)));
    let wrong = || {
        let names = "marking, basic, bpor, dpor, cb-dfs, round-robin, random, random:SEED, pct and pct:SEED";
        format!("PREEMPT_STRATEGY={text} is not known; there are {names}")
    };
    let number = seed.map_or(Ok(0), |seed| seed.parse::<u64>().map_err(|_| wrong()))?;
    match (name, seed) {
        ("marking", None) => Ok(Strategy::Marking),
        ("basic", None) => Ok(Strategy::Basic),
        ("bpor", None) => Ok(Strategy::Bpor),
        ("dpor", None) => Ok(Strategy::Dpor),
        ("cb-dfs", None) => Ok(Strategy::CbDfs),
        ("round-robin", None) => Ok(Strategy::RoundRobin),
        ("random", _) => Ok(Strategy::Random(number)),
        ("pct", _) => Ok(Strategy::Pct { seed: number, depth: 3 }),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<Checker, String> {
        let checker = Checker::new().max_preemptions(Some(2)).max_executions(10).replay("p1:0");
        let read = |name: &str| variables.iter().find(|(known, _)| *known == name);
        checker.overridden(|name| read(name).map(|(_, value)| value.to_string()), "tests/a.rs:7")
    }

    #[test]
    fn the_environment_wins() {
        let plain = with(&[]).unwrap();
        assert_eq!((plain.limits.preemptions, plain.limits.executions), (Some(2), Some(10)));
        let checker = with(&[
            ("PREEMPT_MAX_PREEMPTIONS", "5"),
            ("PREEMPT_MAX_EXECUTIONS", "none"),
            ("PREEMPT_MAX_DURATION", "60"),
            ("PREEMPT_MAX_STEPS", "99"),
            ("PREEMPT_FAIR_BOUND", "none"),
            ("PREEMPT_SPURIOUS", "1"),
            ("PREEMPT_THREADS", "4"),
            ("PREEMPT_STRATEGY", "cb-dfs"),
            ("PREEMPT_WATCHDOG", "3"),
            ("PREEMPT_REPLAY", "p1:0x2"),
        ])
        .unwrap();
        assert_eq!((checker.limits.preemptions, checker.limits.executions), (Some(5), None));
        assert_eq!((checker.limits.time, checker.limits.steps), (Some(Duration::from_secs(60)), 99));
        assert_eq!((checker.limits.fair, checker.spurious, checker.threads), (None, 1, 4));
        assert_eq!((checker.strategy, checker.replay.as_deref()), (Strategy::CbDfs, Some("p1:0x2")));
        assert_eq!(checker.watchdog, Some(Duration::from_secs(3)));
        let replay = |value| with(&[("PREEMPT_REPLAY", value)]).unwrap().replay.unwrap();
        assert_eq!([replay("tests/a.rs:7=p1:1"), replay("tests/a.rs:70=p1:1")], ["p1:1", "p1:0"]);
        assert_eq!(with(&[("PREEMPT_STRATEGY", "random:7")]).unwrap().strategy, Strategy::Random(7));
        assert_eq!(with(&[("PREEMPT_MAX_PREEMPTIONS", "")]), Ok(plain));
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        for (name, value) in [
            ("PREEMPT_MAX_PREEMPTIONS", "many"),
            ("PREEMPT_MAX_DURATION", "-1"),
            ("PREEMPT_STRATEGY", "best"),
            ("PREEMPT_STRATEGY", "pct:x"),
            ("PREEMPT_STRATEGY", "bpor:1"),
        ] {
            let wrong = with(&[(name, value)]).unwrap_err();
            assert!(wrong.contains(name) && wrong.contains(value), "{wrong}");
        }
    }
}
