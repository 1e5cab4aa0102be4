//! Two-phase commit: a coordinator asks every participant for its vote; if all vote yes it decides to commit, else to
//! abort, and tells them. Messages are not lost, but a participant that waits may lose its patience.
//!
//! Before its vote a participant may abort by itself. After a yes it must not: the others may already have committed.
//! That is the mistake that [`Patience::ForEver`] leaves out and [`Patience::UntilTimeout`] makes.

use preempt_workbench::{Change, Description, PropertyKind, Successor, System, Value, Violation};

#[derive(Debug, Clone, Copy)]
pub struct TwoPhaseCommit {
    pub participants: usize,
    pub patience: Patience,
}

/// How long a participant that has voted yes waits for the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    ForEver,
    UntilTimeout,
}

/// Everything there is to know at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    decision: Option<Outcome>,
    /// How many participants have been asked, and how many have been told, in the order of their numbers.
    asked: usize,
    told: usize,
    participants: Vec<Participant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Participant {
    Working,
    /// It has been asked for its vote.
    Asked,
    VotedYes,
    VotedNo,
    /// The decision has arrived.
    Told(Outcome),
    Done(Outcome),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Outcome {
    Commit,
    Abort,
}

/// What a process does in one step: its text is what a counterexample shows.
pub type Action = String;

const COORDINATOR: usize = 0;

impl TwoPhaseCommit {
    fn coordinator(&self, state: &State) -> Vec<(Action, State)> {
        let mut next = state.clone();
        if state.asked < self.participants {
            next.participants[state.asked] = Participant::Asked;
            next.asked += 1;
            return vec![(format!("ask participant {} for its vote", state.asked + 1), next)];
        }
        let voted = |participant: &Participant| !matches!(participant, Participant::Asked);
        if state.decision.is_none() {
            if !state.participants.iter().all(voted) {
                return Vec::new();
            }
            let yes = state.participants.iter().all(|participant| *participant != Participant::VotedNo);
            let decision = if yes { Outcome::Commit } else { Outcome::Abort };
            next.decision = Some(decision);
            return vec![(format!("decide to {decision}"), next)];
        }
        match state.decision {
            Some(decision) if state.told < self.participants => {
                let participant = &mut next.participants[state.told];
                // Whoever has finished already does not listen any more.
                if !matches!(participant, Participant::Done(_)) {
                    *participant = Participant::Told(decision);
                }
                next.told += 1;
                vec![(format!("tell participant {}: {decision}", state.told + 1), next)]
            }
            _ => Vec::new(),
        }
    }

    fn participant(&self, state: &State, number: usize) -> Vec<(Action, State)> {
        let becomes = |participant: Participant, action: &str| {
            let mut next = state.clone();
            next.participants[number] = participant;
            (action.to_string(), next)
        };
        match state.participants[number] {
            Participant::Asked => {
                vec![becomes(Participant::VotedYes, "vote yes"), becomes(Participant::VotedNo, "vote no")]
            }
            Participant::VotedYes if self.patience == Patience::UntilTimeout => {
                vec![becomes(Participant::Done(Outcome::Abort), "lose patience and abort")]
            }
            Participant::Told(outcome) => {
                vec![becomes(Participant::Done(outcome), &format!("{outcome}"))]
            }
            _ => Vec::new(),
        }
    }
}

impl System for TwoPhaseCommit {
    type State = State;
    type Action = Action;

    fn initial_states(&self) -> Vec<State> {
        let participants = vec![Participant::Working; self.participants];
        vec![State { decision: None, asked: 0, told: 0, participants }]
    }

    fn process_count(&self, _: &State) -> usize {
        1 + self.participants
    }

    fn successors(&self, state: &State, process: usize) -> Vec<Successor<State, Action>> {
        let steps = match process {
            COORDINATOR => self.coordinator(state),
            participant => self.participant(state, participant - 1),
        };
        steps
            .into_iter()
            .map(|(action, next)| Successor { action, state: Some(next), runs: process, violation: None })
            .collect()
    }

    /// At the end everybody has finished.
    fn may_end(&self, state: &State) -> bool {
        state.participants.iter().all(|participant| matches!(participant, Participant::Done(_)))
    }

    /// The point of it all: nobody commits what somebody else has aborted.
    fn state_violation(&self, state: &State) -> Option<Violation> {
        let done = |outcome| state.participants.contains(&Participant::Done(outcome));
        (done(Outcome::Commit) && done(Outcome::Abort)).then(|| Violation {
            kind: PropertyKind::Assertion,
            name: "one participant has committed and another has aborted".into(),
            location: None,
        })
    }

    fn process_name(&self, _: &State, process: usize) -> String {
        match process {
            COORDINATOR => "coordinator".into(),
            participant => format!("participant {participant}"),
        }
    }

    fn describe(&self, _: &State, _: usize, action: &Action) -> Description {
        Description { text: action.clone(), ..Description::default() }
    }

    fn variables(&self, state: &State) -> Vec<Change> {
        let name = |text: String| Value::Name(text);
        let decision = state.decision.map_or("none".to_string(), |decision| decision.to_string());
        let mut variables = vec![Change { name: "decision".into(), value: name(decision) }];
        for (number, participant) in state.participants.iter().enumerate() {
            let value = match participant {
                Participant::Working => "working".to_string(),
                Participant::Asked => "asked".to_string(),
                Participant::VotedYes => "yes".to_string(),
                Participant::VotedNo => "no".to_string(),
                Participant::Told(outcome) => format!("told to {outcome}"),
                Participant::Done(outcome) => format!("done: {outcome}"),
            };
            variables.push(Change { name: format!("participant {}", number + 1), value: name(value) });
        }
        variables
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Outcome::Commit => "commit",
            Outcome::Abort => "abort",
        })
    }
}
