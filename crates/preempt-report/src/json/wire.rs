//! The format itself: field by field what a reader of the JSON sees.
//!
//! Every field is always written; one that does not apply is `null`. When a counterexample is read back, only
//! what decides the run is needed: counts that follow from the steps may be missing.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// One run of the command.
#[derive(Debug, serde::Serialize)]
pub(super) struct Report {
    pub schema: u32,
    pub tool: String,
    pub file: String,
    pub engine: String,
    /// Of an engine that has several ways to an answer: the one that found it.
    pub answered_by: Option<String>,
    pub options: Fields<Setting>,
    pub verdict: &'static str,
    /// Why there is no answer.
    pub reason: Option<&'static str>,
    pub guarantee: Option<Guarantee>,
    /// What holds, in the words of the input.
    pub statement: Option<String>,
    pub property: Option<Property>,
    /// What is known about the counterexample.
    pub minimality: Option<&'static str>,
    pub stats: Stats,
    pub counterexample: Option<Counterexample>,
    /// What a certificate is made of, line by line.
    pub certificate: Option<Vec<String>>,
    /// What became of each property that was asked.
    pub properties: Option<Vec<PropertyResult>>,
    /// Every different violation, where all were asked for.
    pub errors: Option<Vec<Finding>>,
    /// Which statements lie on error traces, where that was asked for.
    pub error_projection: Option<ErrorProjection>,
    /// What was executed and what never, where the engine can tell.
    pub executed: Option<Executed>,
    pub notes: Vec<Note>,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Executed {
    pub unit: &'static str,
    pub total: usize,
    pub never_executed: usize,
    /// Has the search seen everything that can be executed, as far as its verdict reaches?
    pub complete: bool,
    /// Only runs with up to so many processes were looked at.
    pub processes: Option<usize>,
    pub parts: Vec<ExecutedPart>,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct ExecutedPart {
    pub name: String,
    pub total: usize,
    pub entered: bool,
    pub never_reached: Vec<Awaited>,
    pub never_true: Vec<Awaited>,
    pub never_false: Option<Vec<Awaited>>,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Note {
    pub kind: &'static str,
    pub text: String,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct PropertyResult {
    pub name: String,
    pub verdict: &'static str,
    pub reason: Option<&'static str>,
    pub violation: Option<Property>,
    pub preemptions: Option<usize>,
    pub length: Option<usize>,
    pub answer: Option<&'static str>,
    pub unsupported: Option<String>,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct ErrorProjection {
    pub contexts: u32,
    pub projected: Vec<Projected>,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Projected {
    /// `file:line:col`
    pub location: String,
    pub procedure: String,
    pub text: String,
    pub on_error_trace: bool,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Finding {
    pub property: Property,
    pub counterexample: Counterexample,
}

/// The part of a [`Report`] that a replay needs.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Recording {
    #[serde(default)]
    pub file: Option<String>,
    #[serde(default)]
    pub property: Option<Property>,
    #[serde(default)]
    pub counterexample: Option<Counterexample>,
}

/// Read before everything else: another version's fields may mean something else.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Version {
    #[serde(default)]
    pub schema: Option<serde_json::Value>,
}

#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(super) enum Setting {
    Text(String),
    Number(u64),
    Flag(bool),
    Unset,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Guarantee {
    pub kind: &'static str,
    pub bound: Option<u32>,
    pub unit: Option<&'static str>,
    pub probability: Option<f64>,
    pub instances: Option<u32>,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Property {
    pub kind: String,
    pub name: String,
    /// `file:line:col`
    #[serde(default)]
    pub location: Option<String>,
    /// For a deadlock: where everybody stands, and what for.
    #[serde(default)]
    pub waiting: Option<Vec<Waiting>>,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Waiting {
    pub process: String,
    pub pid: usize,
    #[serde(default)]
    pub may_end: bool,
    pub statements: Vec<Awaited>,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Awaited {
    #[serde(default)]
    pub location: Option<String>,
    pub text: String,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Stats {
    /// One field for each [`Measure`](preempt_core::Measure).
    #[serde(flatten)]
    pub counts: Fields<Option<u64>>,
    pub seconds: Option<f64>,
    pub peak_bytes: Option<u64>,
    pub memory: Option<Memory>,
    pub per_level: Option<Vec<Level>>,
    pub violations: Option<Fields<u64>>,
    pub coverage: Option<Coverage>,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Coverage {
    pub hash_factor: Option<f64>,
    pub share: Option<f64>,
    pub states_are_estimated: bool,
    pub searches: Fields<u64>,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Memory {
    pub store: u64,
    pub frontier: u64,
    pub parents: u64,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Level {
    pub level: u32,
    pub states: u64,
    pub transitions: u64,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Counterexample {
    #[serde(default)]
    pub initial: Fields<Value>,
    pub steps: Vec<Step>,
    #[serde(default)]
    pub loop_start: Option<usize>,
    #[serde(default)]
    pub preemptions: usize,
    #[serde(default)]
    pub switches: usize,
    #[serde(default)]
    pub contexts: usize,
    #[serde(default)]
    pub length: usize,
    #[serde(default)]
    pub processes: Option<usize>,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Step {
    pub process: String,
    pub pid: usize,
    #[serde(default)]
    pub location: Option<String>,
    #[serde(default)]
    pub calls: Vec<Call>,
    pub text: String,
    #[serde(default)]
    pub choice: Option<String>,
    pub switch: Switch,
    #[serde(default)]
    pub changed: Fields<Value>,
    #[serde(default)]
    pub output: Option<String>,
    #[serde(default)]
    pub partner: Option<Partner>,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Call {
    pub name: String,
    pub location: String,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Partner {
    pub process: String,
    pub pid: usize,
    #[serde(default)]
    pub location: Option<String>,
    pub text: String,
}

#[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Switch {
    None,
    Forced,
    Preemption,
}

/// Numbers as numbers, names as strings, arrays and channels as arrays, a variable that is gone as `null`.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(
    untagged,
    expecting = "a value is a number of at most 64 bits, a string, an array of values, or null"
)]
pub(super) enum Value {
    Number(i64),
    Name(String),
    List(Vec<Value>),
    Gone,
}

/// An object whose fields keep their order, which is the order of declaration: people read it too.
#[derive(Debug)]
pub(super) struct Fields<T>(pub Vec<(String, T)>);

impl<T> Default for Fields<T> {
    fn default() -> Self {
        Fields(Vec::new())
    }
}

impl<T: Serialize> Serialize for Fields<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Fields<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
            type Value = Fields<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of names and values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<T>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(InOrder(std::marker::PhantomData))
    }
}
