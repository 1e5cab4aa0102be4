//! Is there a run without end that the monitor accepts?
//!
//! Without a bound that is decided by strongly connected components; a cheapest lasso then shows the run, and
//! with a bound it decides. Under weak fairness only runs count in which every process that could always move does.

use super::graph::Graph;
use super::lasso::{Lasso, Waypoint};
use super::reference::{ReferenceOptions, guarantee};
use super::replay::replay;
use super::replay_budget;
use super::stable::{Event, expand};
use crate::monitor::{Monitor, finds_violation};
use crate::system::System;
use preempt_core::{Budget, Outcome, Progress, Stats, StopReason, Trace, Verdict};
use std::collections::BTreeMap;
use std::time::Instant;

/// Finds the simplest lasso that the monitor accepts, or shows that there is none.
///
/// `weakly_fair` does not go together with a bound: the cost of a fair run is not defined by its loop's one round.
pub fn check_cycles<S: System, M: Monitor<S>>(
    system: &S,
    monitor: &M,
    weakly_fair: bool,
    options: &ReferenceOptions,
    progress: &mut dyn Progress,
) -> Outcome {
    let started = Instant::now();
    let budget = progress.budget().part(&options.limits);
    system.work_within(&budget);
    let outcome = CycleCheck { system, monitor, weakly_fair, options }.decided((&budget, started), progress);
    system.work_within(&progress.budget());
    outcome
}

struct CycleCheck<'a, S: System, M: Monitor<S>> {
    system: &'a S,
    monitor: &'a M,
    weakly_fair: bool,
    options: &'a ReferenceOptions,
}

impl<S: System, M: Monitor<S>> CycleCheck<'_, S, M> {
    fn decided(&self, (budget, started): (&Budget, Instant), progress: &mut dyn Progress) -> Outcome {
        let CycleCheck { system, monitor, weakly_fair, options } = *self;
        let without_run = |undone: Option<StopReason>, stats: Stats| Outcome {
            verdict: Verdict::conclude(false, undone),
            guarantee: guarantee(options),
            violation: None,
            counterexample: None,
            stats: Stats { time: started.elapsed(), ..stats },
        };
        let built = Graph::build(system, monitor, options.fair_switch, budget, progress);
        let graph = match built {
            Ok(graph) => graph,
            Err(reason) => return without_run(Some(reason), Stats::default()),
        };
        let component = graph.components();
        let lasso = if weakly_fair {
            fair_lasso(&graph, &component, budget)
        } else {
            graph.cheapest_lasso(&on_accepting_cycle(&graph, &component), options.bound, budget)
        };
        let mut stats = Stats {
            states: graph.nodes.len() as u64,
            transitions: graph.nodes.iter().map(|node| node.edges.len() as u64).sum(),
            ..Stats::default()
        };
        let (Some(lasso), None) = (lasso, budget.stopped()) else {
            return without_run(budget.stopped(), stats);
        };
        let replaying = replay_budget(progress, &options.limits, started.elapsed());
        system.work_within(&replaying);
        let Some(trace) = replayed(system, monitor, &graph, &lasso, options.fair_switch) else {
            return without_run(replaying.stopped(), stats);
        };
        let violation = monitor.violation();
        stats.violations.insert(violation.kind, 1);
        stats.time = started.elapsed();
        Outcome {
            verdict: Verdict::Violated,
            guarantee: guarantee(options),
            violation: Some(violation.into()),
            counterexample: Some(trace),
            stats,
        }
    }
}

/// Nodes in a component that has a cycle and an accepting node.
fn on_accepting_cycle<S: System>(graph: &Graph<S>, component: &[u32]) -> Vec<bool> {
    let mut accepting = vec![false; component.len()];
    let mut cyclic = vec![false; component.len()];
    for (number, node) in graph.nodes.iter().enumerate() {
        let own = component[number];
        accepting[own as usize] |= node.accepting;
        cyclic[own as usize] |= node.edges.iter().any(|(target, _)| component[*target as usize] == own);
    }
    component.iter().map(|own| accepting[*own as usize] && cyclic[*own as usize]).collect()
}

/// A component in which every process either moves or somewhere cannot: a loop through all of that is fair.
fn fair_lasso<S: System>(graph: &Graph<S>, component: &[u32], budget: &Budget) -> Option<Lasso> {
    let candidates = on_accepting_cycle(graph, component);
    let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (node, own) in component.iter().enumerate().filter(|(node, _)| candidates[*node]) {
        members.entry(*own).or_default().push(node as u32);
    }
    members.values().find_map(|nodes| {
        let waypoints = fair_waypoints(graph, component, nodes)?;
        graph.lasso_through(component, &waypoints, budget)
    })
}

fn fair_waypoints<S: System>(graph: &Graph<S>, component: &[u32], nodes: &[u32]) -> Option<Vec<Waypoint>> {
    let mut waypoints =
        vec![Waypoint::Node(*nodes.iter().find(|node| graph.nodes[**node as usize].accepting)?)];
    let info_of = |node: u32| &graph.states[graph.nodes[node as usize].state as usize];
    let processes = nodes.iter().map(|node| info_of(*node).free_to_leave.len()).max().unwrap_or(0);
    for process in 0..processes {
        let moves_in = |node: u32| {
            let steps = &info_of(node).steps;
            graph.nodes[node as usize].edges.iter().position(|(target, step)| {
                let step = step.map(|step| steps[step as usize]);
                component[*target as usize] == component[node as usize]
                    && step.is_some_and(|step| {
                        usize::from(step.process) == process || usize::from(step.runs) == process
                    })
            })
        };
        let cannot_move =
            |node: u32| !info_of(node).steps.iter().any(|step| usize::from(step.process) == process);
        let by_move = nodes.iter().find_map(|node| Some(Waypoint::Edge(*node, moves_in(*node)?)));
        let by_rest = || nodes.iter().find(|node| cannot_move(**node)).map(|node| Waypoint::Node(*node));
        waypoints.push(by_move.or_else(by_rest)?);
    }
    Some(waypoints)
}

/// The lasso as a trace, executed again by the system itself; `None` if its budget ends before that.
fn replayed<S: System, M: Monitor<S>>(
    system: &S,
    monitor: &M,
    graph: &Graph<S>,
    lasso: &Lasso,
    fair_switch: bool,
) -> Option<Trace> {
    let steps_of = |edges: &[(u32, usize)]| -> Vec<(usize, S::Action)> {
        edges.iter().flat_map(|(node, edge)| path(system, graph, *node, *edge)).collect()
    };
    let stem = steps_of(&lasso.stem);
    let cycle = steps_of(&lasso.cycle);
    let first = lasso.stem.first().or(lasso.cycle.first()).map_or(graph.initial[0], |(node, _)| *node);
    let initial = &graph.states[graph.nodes[first as usize].state as usize].state;
    let once = replay(system, initial, &stem, fair_switch);
    let whole: Vec<_> = stem.iter().chain(&cycle).cloned().collect();
    let round = replay(system, initial, &whole, fair_switch);
    if system.budget().stopped().is_some() {
        return None;
    }
    let (once, round) = match (once, round) {
        (Ok(once), Ok(round)) => (once, round),
        (Err(misfit), _) | (_, Err(misfit)) => {
            panic!("internal error: the run found does not replay: {misfit:?}")
        }
    };
    assert_eq!(once.last_state, round.last_state, "internal error: the loop does not come back");
    let loop_start = round.stable.iter().position(|(steps, _)| *steps == stem.len());
    // Coming back, the last state is the first of the loop; a loop without steps repeats it.
    let mut states: Vec<S::State> = round.stable.iter().map(|(_, state)| state.clone()).collect();
    if !cycle.is_empty() {
        states.pop();
    }
    assert!(finds_violation(monitor, &states, loop_start), "internal error: the run is not a violation");
    let mut trace = round.trace;
    if let Some(cost) = lasso.cost {
        // The switch that closes the loop is not seen in one round of it, if there is no stem to show it before.
        let unseen = u32::from(stem.is_empty());
        let shown = trace.preemptions() as u32;
        let as_found = (shown..=shown + unseen).contains(&cost.preemptions);
        assert!(as_found, "internal error: the run costs {shown} preemptions, not {}", cost.preemptions);
    }
    trace.loop_start = Some(stem.len());
    Some(trace)
}

fn path<S: System>(system: &S, graph: &Graph<S>, node: u32, edge: usize) -> Vec<(usize, S::Action)> {
    let node = &graph.nodes[node as usize];
    let Some(step) = node.edges[edge].1 else { return Vec::new() };
    let info = &graph.states[node.state as usize];
    let step = info.steps[step as usize];
    let mut seen = 0;
    let mut found = Vec::new();
    expand(system, &info.state, usize::from(step.process), |event| {
        if let Event::Arrival { path, .. } = event {
            if seen == step.which {
                found = path.to_vec();
            }
            seen += 1;
        }
    });
    found
}
