//! Hidden variables: which of them a state must have after all.
//!
//! A `hidden` variable is not part of the state: what it holds is forgotten whenever another process may run. That is sound
//! as long as nobody reads a value from before: it may be printed, or read within the atomic sequence that has
//! just written it. (Spin goes on with whatever stands in memory, which depends on the order of its search.) Everything
//! else is found here, and those variables are kept as ordinary ones.
//!
//! For every location the slots are computed that are surely written since the process last let others run: a forward
//! analysis, with the intersection where paths meet.

use preempt_model::property::Ltl;
use preempt_model::{BinaryOp, Block, Code, Command, Expr, Init, Model, Pattern, Place, Scope};
use std::collections::BTreeSet;

type Slots = BTreeSet<u32>;

/// The hidden slots whose value is read after others could run.
pub(super) fn outliving(model: &Model) -> Slots {
    if model.hidden_slots == 0 {
        return Slots::new();
    }
    let mut reads = Reads::default();
    for code in &model.codes {
        of_code(model, code, &mut reads);
    }
    for formula in &model.formulas {
        atoms(&formula.formula, &mut |atom| reads.read(atom, &Slots::new()));
    }
    for exclusive in &model.exclusives {
        reads.read(&exclusive.channel, &Slots::new());
    }
    reads.outliving()
}

/// What is read without having been written just before.
#[derive(Default)]
struct Reads {
    /// By something that others can notice.
    noticed: Slots,
    /// Only to compute another hidden variable: what was written, and what was read for it.
    passed_on: Vec<(Slots, Slots)>,
    /// What some step may write; the others keep their initial value.
    changing: Slots,
}

impl Reads {
    fn read(&mut self, expr: &Expr, written: &Slots) {
        self.noticed.extend(hidden_in(expr).difference(written));
    }

    /// A place is written: its indices are read, and nothing else of it.
    fn write(&mut self, place: &Place, written: &Slots) {
        place.indices.iter().for_each(|index| self.read(&index.value, written));
        if place.scope == Scope::Hidden {
            self.changing.extend(place.range());
        }
    }

    fn outliving(mut self) -> Slots {
        loop {
            let before = self.noticed.len();
            for (target, read) in &self.passed_on {
                if !target.is_disjoint(&self.noticed) {
                    self.noticed.extend(read);
                }
            }
            if self.noticed.len() == before {
                return &self.noticed & &self.changing;
            }
        }
    }
}

fn of_code(model: &Model, code: &Code, reads: &mut Reads) {
    let nothing = Slots::new();
    code.provided.iter().for_each(|clause| reads.read(clause, &nothing));
    for init in &code.init {
        if let Init::Set { value, .. } = init {
            reads.read(value, &nothing);
        }
    }
    // Whoever can be held back in the middle of an atomic sequence lets others run there.
    let held_back = model.has_priorities || code.provided.is_some();
    let mut written: Vec<Option<Slots>> = vec![None; code.locations.len()];
    let Some(entry) = written.get_mut(code.entry.0 as usize) else { return };
    *entry = Some(Slots::new());
    let mut waiting = vec![code.entry.0 as usize];
    while let Some(at) = waiting.pop() {
        let location = &code.locations[at];
        let goes_on = location.edges.iter().any(|edge| always_possible(&edge.command));
        let known = written[at].clone().filter(|_| goes_on && !held_back).unwrap_or_default();
        for edge in &location.edges {
            let after = of_command(&edge.command, &known, reads);
            // A send may be a rendezvous, after which the receiver goes on.
            let keeps = edge.atomic && !matches!(edge.command, Command::Send { .. });
            let after = if keeps { after } else { Slots::new() };
            let Some(target) = written.get_mut(edge.target.0 as usize) else { continue };
            let joined = target.as_ref().map_or_else(|| after.clone(), |old| old & &after);
            if target.as_ref() != Some(&joined) {
                *target = Some(joined);
                waiting.push(edge.target.0 as usize);
            }
        }
    }
}

/// Notes what the command reads, and gives what is surely written after it.
fn of_command(command: &Command, written: &Slots, reads: &mut Reads) -> Slots {
    let mut after = written.clone();
    match command {
        // What is printed changes nothing.
        Command::Print { .. } => {}
        Command::Assign(assignments) => {
            for (place, value) in assignments {
                reads.write(place, written);
                if place.scope == Scope::Hidden && !can_fail(value) {
                    let read = &hidden_in(value) - written;
                    reads.passed_on.push((place.range().collect(), read));
                } else {
                    reads.read(value, written);
                }
            }
            after.extend(assignments.iter().filter_map(|(place, _)| surely_written(place)));
        }
        Command::Receive { channel, pattern, .. } => {
            reads.read(channel, written);
            for part in pattern {
                match part {
                    Pattern::Match(expr) => reads.read(expr, written),
                    Pattern::Bind(place) => {
                        reads.write(place, &after);
                        after.extend(surely_written(place));
                    }
                }
            }
        }
        Command::Deterministic(block) => return of_block(block, written, reads),
        _ => {
            command
                .visit(&mut |expr| reads.noticed.extend(own_hidden(expr).filter(|it| !written.contains(it))));
            if let Command::Run { result: Some((place, _)), .. } = command {
                reads.write(place, written);
                after.extend(surely_written(place));
            }
        }
    }
    after
}

fn of_block(block: &Block, written: &Slots, reads: &mut Reads) -> Slots {
    let mut known: Vec<Option<Slots>> = vec![None; block.nodes.len()];
    let mut end: Option<Slots> = None;
    let Some(entry) = known.first_mut() else { return written.clone() };
    *entry = Some(written.clone());
    let mut waiting = vec![0];
    while let Some(at) = waiting.pop() {
        let here = known[at].clone().unwrap_or_default();
        for edge in &block.nodes[at] {
            let after = match &edge.command {
                Some(command) => of_command(command, &here, reads),
                None => here.clone(),
            };
            let target = match edge.next {
                Some(next) => &mut known[next],
                None => &mut end,
            };
            let joined = target.as_ref().map_or_else(|| after.clone(), |old| old & &after);
            if target.as_ref() != Some(&joined) {
                *target = Some(joined);
                waiting.extend(edge.next);
            }
        }
    }
    end.unwrap_or_default()
}

/// Can this be executed wherever a process stands before it?
fn always_possible(command: &Command) -> bool {
    match command {
        Command::Guard(expr) => matches!(expr, Expr::Const(value) if *value != 0),
        Command::Else | Command::Assign(_) | Command::Assert(_) | Command::Print { .. } => true,
        _ => false,
    }
}

fn surely_written(place: &Place) -> Option<u32> {
    (place.scope == Scope::Hidden && place.indices.is_empty()).then_some(place.slot)
}

fn hidden_in(expr: &Expr) -> Slots {
    let mut slots = Slots::new();
    expr.visit(&mut |expr| slots.extend(own_hidden(expr)));
    slots
}

/// The hidden slots that this expression itself, not one inside it, reads.
fn own_hidden(expr: &Expr) -> impl Iterator<Item = u32> {
    let range = match expr {
        Expr::Load(place) if place.scope == Scope::Hidden => place.range(),
        _ => 0..0,
    };
    range.into_iter()
}

/// May evaluating it be a run-time error?
fn can_fail(expr: &Expr) -> bool {
    let mut fails = false;
    expr.visit(&mut |expr| {
        fails |= match expr {
            Expr::Load(place) => !place.indices.is_empty(),
            Expr::Unary(..) | Expr::Const(_) | Expr::Conditional(..) => false,
            Expr::Binary(op, ..) => matches!(op, BinaryOp::Div | BinaryOp::Rem),
            _ => true,
        }
    });
    fails
}

fn atoms(formula: &Ltl, ask: &mut dyn FnMut(&Expr)) {
    match formula {
        Ltl::Atom(expr) => ask(expr),
        Ltl::Not(inner) | Ltl::Always(inner) | Ltl::Eventually(inner) | Ltl::Next(inner) => atoms(inner, ask),
        Ltl::And(left, right)
        | Ltl::Or(left, right)
        | Ltl::Until(left, right)
        | Ltl::Release(left, right)
        | Ltl::WeakUntil(left, right)
        | Ltl::Implies(left, right)
        | Ltl::Equivalent(left, right) => {
            atoms(left, ask);
            atoms(right, ask);
        }
    }
}
