//! The entry: every property of a protocol gets one of exactly three answers. *Safe*, with a certificate; *unsafe*, with a run
//! of the protocol itself; or *inconclusive*, with the reason.
//!
//! With guards over the others, B' decides first. If it is safe, so is the protocol (Theorem 5). A run of B' is rebuilt
//! by the construction of Theorem 6 and replayed; if that does not succeed, the side condition B'' must fail, which is looked
//! at, and the answer is inconclusive. A run has the exact smallest number of processes: runs of the protocol are runs of B',
//! and the construction keeps the number.

use super::certificate::{CertificateSet, ProtocolCertificate};
use super::theorem6::rebuilt;
use super::{Found, Numbers, SlotOrder, checker, flat, forward, slices};
use crate::check::Engine;
use preempt_core::{Budget, Limits, Progress, StopReason, Verdict, run_supervised};
use preempt_net::protocol::guards::{reduced, side_condition};
use preempt_net::protocol::{Bad, Protocol, ProtocolRun};
use std::time::{Duration, Instant};

pub use preempt_net::protocol::guards::SIDE_CONDITION;

/// How a protocol is decided.
#[derive(Debug, Clone, Default)]
pub struct ProtocolOptions {
    /// Which algorithm decides: [`Engine::Auto`], [`Engine::Basis`], [`Engine::Weight`] or [`Engine::Forward`].
    pub engine: Engine,
    /// Of all properties together.
    pub limits: Limits,
    /// In which order the variables of diagrams stand.
    pub order: SlotOrder,
    /// Only the property with this name; [`SIDE_CONDITION`] asks for that of Theorem 6.
    pub property: Option<String>,
}

/// The answer about one property.
#[derive(Debug, Clone)]
pub struct ProtocolAnswer {
    /// Its name.
    pub property: String,
    /// "Violated" means that a bad state can be reached.
    pub verdict: Verdict,
    /// For "violated": a run of the protocol itself, replayed.
    pub run: Option<ProtocolRun>,
    /// No run has fewer processes.
    pub fewest_processes: bool,
    /// For "holds": verified already.
    pub certificate: Option<ProtocolCertificate>,
    /// For "inconclusive", if it is more than a limit.
    pub reason: Option<String>,
    /// What was counted.
    pub numbers: Numbers,
    /// The engine that decided.
    pub answered_by: Engine,
    /// How long it took.
    pub time: Duration,
    /// Something that must not happen: a result was refuted by its verification.
    pub internal_error: Option<String>,
}

/// Why an engine does not apply to the protocol, if it does not.
pub fn refuses(protocol: &Protocol, engine: Engine) -> Option<String> {
    match engine {
        Engine::Auto | Engine::Weight => None,
        Engine::Basis => flat::refuses(&reduced(protocol).protocol),
        Engine::Forward => forward::refuses(protocol),
        Engine::Prechecks | Engine::WeightPlain => Some("it knows nets only".into()),
    }
}

/// Decides the properties of a protocol, one after the other.
///
/// ```
/// use preempt_core::{Silent, SourceMap, Verdict};
/// use preempt_wsts::protocol::{ProtocolOptions, check_protocol};
///
/// let text = "local state : { idle, busy } = idle
///             rule enter  when state = idle  all others state = idle  do state := busy
///             rule leave  when state = busy  do state := idle
///             bad together: two with state = busy";
/// let (protocol, mistakes) = preempt_net::protocol::read(SourceMap::new().add("p.protocol", text), text, &[]);
/// assert!(mistakes.is_empty());
/// let answers = check_protocol(&protocol, &ProtocolOptions::default(), &mut Silent);
/// assert_eq!(answers[0].verdict, Verdict::Holds);
/// ```
pub fn check_protocol(
    protocol: &Protocol,
    options: &ProtocolOptions,
    progress: &mut dyn Progress,
) -> Vec<ProtocolAnswer> {
    let job = Budget::within(&Limits { time: options.limits.time, ..Limits::default() });
    let searches = job.part(&options.limits);
    let asked: Vec<Option<Bad>> = match options.property.as_deref() {
        Some(SIDE_CONDITION) => vec![None],
        Some(name) => protocol.properties.iter().filter(|it| it.name == name).cloned().map(Some).collect(),
        None => protocol.properties.iter().cloned().map(Some).collect(),
    };
    let mut answers = Vec::new();
    for bad in asked {
        let begin = Instant::now();
        let owned = (protocol.clone(), options.clone(), bad.clone(), job.clone(), searches.clone());
        let snapshot = || searches.counters().snapshot();
        let answer = run_supervised(&job, progress, snapshot, move || {
            let (protocol, options, bad, job, searches) = &owned;
            let check = Check { protocol, options, job, searches };
            match bad {
                Some(bad) => check.property(bad),
                None => check.side_condition(),
            }
        });
        let name = bad.map_or_else(|| SIDE_CONDITION.to_string(), |bad| bad.name);
        let mut answer = answer.unwrap_or_else(|reason| ProtocolAnswer {
            verdict: Verdict::Inconclusive(reason),
            ..nothing(&name, options.engine)
        });
        answer.time = begin.elapsed();
        answers.push(answer);
    }
    answers
}

fn nothing(property: &str, engine: Engine) -> ProtocolAnswer {
    ProtocolAnswer {
        property: property.to_string(),
        verdict: Verdict::Inconclusive(StopReason::Partial),
        run: None,
        fewest_processes: false,
        certificate: None,
        reason: None,
        numbers: Numbers::default(),
        answered_by: engine,
        time: Duration::ZERO,
        internal_error: None,
    }
}

/// Protocols with so many local states at most are searched by basis, if nobody says how.
const FEW_LOCALS: u64 = 16;

struct Check<'c> {
    protocol: &'c Protocol,
    options: &'c ProtocolOptions,
    job: &'c Budget,
    searches: &'c Budget,
}

impl Check<'_> {
    fn property(&self, bad: &Bad) -> ProtocolAnswer {
        if self.options.engine == Engine::Forward {
            let (found, numbers) = forward::search(self.protocol, bad, self.searches);
            let answer = ProtocolAnswer { numbers, ..nothing(&bad.name, Engine::Forward) };
            return self.concluded(found, bad, answer);
        }
        let reduced = reduced(self.protocol);
        let number = self.protocol.properties.iter().position(|it| it.name == bad.name);
        let in_reduced = number.and_then(|number| reduced.protocol.properties.get(number)).unwrap_or(bad);
        let (found, numbers, engine) = self.decide(&reduced.protocol, in_reduced);
        let answer = ProtocolAnswer { numbers, ..nothing(&bad.name, engine) };
        match found {
            Found::Reached(run) if self.protocol.is_guarded() => self.of_reduced(&run, bad, answer),
            found => self.concluded(found, bad, answer),
        }
    }

    /// B'': an answer about the side condition itself, whose run is one of B''.
    fn side_condition(&self) -> ProtocolAnswer {
        let answer = nothing(SIDE_CONDITION, self.options.engine);
        let with_error = match side_condition(self.protocol, self.searches) {
            Ok(protocol) => protocol,
            Err(reason) => return ProtocolAnswer { reason: Some(reason), ..answer },
        };
        let (found, numbers, engine) = self.decide(&with_error, &with_error.properties[0]);
        let answer = ProtocolAnswer { numbers, answered_by: engine, ..answer };
        let check = Check { protocol: &with_error, ..*self };
        check.concluded(found, &with_error.properties[0], answer)
    }

    /// By the engine that was asked for, or one that suits. There are no guards any more.
    fn decide(&self, protocol: &Protocol, bad: &Bad) -> (Found, Numbers, Engine) {
        let few = protocol.local_states().is_some_and(|count| count <= FEW_LOCALS);
        let by_basis = match self.options.engine {
            Engine::Auto => few && flat::refuses(protocol).is_none(),
            engine => engine == Engine::Basis,
        };
        if by_basis {
            let (found, numbers) = flat::search(protocol, bad, self.searches);
            (found, numbers, Engine::Basis)
        } else {
            let (found, numbers) = slices::search(protocol, bad, self.options.order, self.searches);
            (found, numbers, Engine::Weight)
        }
    }

    /// From a run of B' to an answer about the protocol: Theorem 6.
    fn of_reduced(&self, run: &ProtocolRun, bad: &Bad, answer: ProtocolAnswer) -> ProtocolAnswer {
        let blocked = match rebuilt(self.protocol, run, self.job) {
            Ok(run) if self.protocol.is_counterexample(&run, bad) => {
                return self.concluded(Found::Reached(run), bad, answer);
            }
            Ok(_) => None,
            Err(blocked) => Some(blocked),
        };
        let processes = run.initial.processes.len();
        let rule = blocked.as_ref().and_then(|it| self.protocol.rules.get(it.rule));
        let who = match (rule, &blocked) {
            (Some(rule), Some(blocked)) => {
                let process = self.protocol.process_text(blocked.process);
                format!(
                    "`{}` may be blocked by a process with {process}, which cannot move away alone",
                    rule.name
                )
            }
            _ => "a process that had resigned was needed again".to_string(),
        };
        match self.side_condition().verdict {
            // Then the construction succeeds, says Theorem 6.
            Verdict::Holds => {
                let error = "the side condition holds, but the run of B' could not be rebuilt";
                ProtocolAnswer { internal_error: Some(error.into()), ..answer }
            }
            _ => {
                let reason = format!(
                    "with guards replaced by broadcasts, {processes} processes reach a bad state, but {who}: the side \
                     condition for that to be a run of the protocol fails"
                );
                ProtocolAnswer { reason: Some(reason), ..answer }
            }
        }
    }

    /// Verifies what was found.
    fn concluded(&self, found: Found, bad: &Bad, answer: ProtocolAnswer) -> ProtocolAnswer {
        let certificate = |set: CertificateSet, weight: u64| ProtocolCertificate {
            property: answer.property.clone(),
            weight,
            set,
        };
        match found {
            Found::Reached(run) => match self.protocol.is_counterexample(&run, bad) {
                true => ProtocolAnswer {
                    verdict: Verdict::Violated,
                    fewest_processes: true,
                    run: Some(run),
                    ..answer
                },
                false => self.wrong("its run cannot be replayed".into(), answer),
            },
            Found::Elements(elements, weight) => {
                let certificate = certificate(CertificateSet::Elements(elements), weight);
                self.proven(certificate, bad, answer)
            }
            Found::Diagram(diagram) => {
                let weight = diagram.weight;
                let certificate = certificate(CertificateSet::Diagram(diagram), weight);
                self.proven(certificate, bad, answer)
            }
            Found::Stopped(reason) => ProtocolAnswer { verdict: Verdict::Inconclusive(reason), ..answer },
            Found::Nothing(reason) => ProtocolAnswer { reason: Some(reason), ..answer },
            Found::Wrong(reason) => self.wrong(reason, answer),
        }
    }

    fn proven(&self, certificate: ProtocolCertificate, bad: &Bad, answer: ProtocolAnswer) -> ProtocolAnswer {
        match checker::verify(self.protocol, bad, &certificate, self.job) {
            // It was checked: nothing is left to be done.
            Ok(Ok(())) => ProtocolAnswer {
                verdict: Verdict::conclude(false, None),
                certificate: Some(certificate),
                ..answer
            },
            Ok(Err(reason)) => self.wrong(reason, answer),
            Err(reason) => ProtocolAnswer { verdict: Verdict::Inconclusive(reason), ..answer },
        }
    }

    fn wrong(&self, reason: String, answer: ProtocolAnswer) -> ProtocolAnswer {
        let engine = answer.answered_by.name();
        let error = format!("the result of the engine `{engine}` is wrong: {reason}");
        ProtocolAnswer { internal_error: Some(error), ..answer }
    }
}
