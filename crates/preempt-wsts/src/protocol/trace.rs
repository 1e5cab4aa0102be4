//! A run of a protocol for people: every step with who made it, and the variables that it changed.

use preempt_core::{Change, Partner, SourceMap, Step, SwitchKind, Trace, Value};
use preempt_net::protocol::state::unpacked;
use preempt_net::protocol::{Protocol, ProtocolRun, ProtocolState, Variable};

/// The run with its values; nothing if it cannot be replayed.
pub fn trace(protocol: &Protocol, run: &ProtocolRun, sources: Option<&SourceMap>) -> Option<Trace> {
    let states = protocol.replay(run).ok()?;
    let process = |number: usize| format!("P{}", number + 1);
    let mut steps = Vec::new();
    let mut last = None;
    for ((step, before), after) in run.steps.iter().zip(&states).zip(&states[1..]) {
        let rule = protocol.rules.get(step.rule)?;
        let location = rule.span.zip(sources).map(|(span, sources)| sources.location(span));
        let partner = step.partner.map(|pid| Partner {
            process: process(pid),
            pid,
            location: location.clone(),
            text: rule.name.clone(),
        });
        let known = values(protocol, before);
        let changed = values(protocol, after)
            .into_iter()
            .zip(known)
            .filter(|(after, before)| after.value != before.value)
            .map(|(after, _)| after)
            .collect();
        steps.push(Step {
            process: process(step.mover),
            pid: step.mover,
            location,
            calls: Vec::new(),
            text: rule.name.clone(),
            choice: None,
            switch: match last {
                Some(last) if last != step.mover => SwitchKind::Preemption,
                _ => SwitchKind::None,
            },
            changed,
            output: None,
            partner,
        });
        last = Some(step.partner.unwrap_or(step.mover));
    }
    Some(Trace {
        initial: values(protocol, &run.initial),
        steps,
        loop_start: None,
        processes: run.initial.processes.len(),
    })
}

fn values(protocol: &Protocol, state: &ProtocolState) -> Vec<Change> {
    let mut found = Vec::new();
    let mut add = |prefix: String, variables: &[Variable], number: u64| {
        for (variable, value) in variables.iter().zip(unpacked(variables, number)) {
            let name = format!("{prefix}{}", variable.name);
            found.push(Change { name, value: Value::Name(protocol.value_name(variable, value)) });
        }
    };
    add(String::new(), &protocol.globals, state.global);
    for (number, process) in state.processes.iter().enumerate() {
        add(format!("P{}.", number + 1), &protocol.locals, *process);
    }
    found
}
