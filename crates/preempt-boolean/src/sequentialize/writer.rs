//! One function of the sequential program, written as a procedure of a Boolean program.
//!
//! A step that touches shared variables is written once for each round, on the copies of that round, in a chain of `if k =
//! i` as in Fig. 1 of Lal and Reps 2009 (paper 002): so the program is about K times as large.

use super::bits::{self, Bits, mux, not, or};
use super::blaster::Blaster;
use super::boolean::{Shared, assign, bit_names, declared, procedure, set};
use super::skeleton::{Block, Function, Skeleton, Step};
use super::{go_on, refused};
use crate::ast::{Declaration, Expr as Formula, Name, Procedure, Statement, StatementKind};
use preempt_core::{Budget, Diagnostic, Span};
use preempt_model::{Expr, Place, Scope};
use std::collections::BTreeMap;

/// One function while it is written.
pub struct Writer<'s> {
    skeleton: &'s Skeleton,
    budget: &'s Budget,
    shared: &'s Shared,
    function: &'s Function,
    number: usize,
    /// The bits of each local.
    locals: Vec<Vec<String>>,
    /// The most temporaries that a step needs.
    temporaries: usize,
}

/// What a step has to do with.
struct Touched<'e> {
    /// So many temporaries are in use already.
    kept: usize,
    /// What it reads.
    exprs: &'e [&'e Expr],
    /// Does it write shared variables?
    writes: bool,
    span: Span,
}

/// Writes a step for one round.
type Write<'w> = &'w mut dyn FnMut(&Writer<'_>, &mut Blaster<'_>) -> Result<Vec<Statement>, Diagnostic>;

impl<'s> Writer<'s> {
    pub fn new(skeleton: &'s Skeleton, shared: &'s Shared, number: usize, budget: &'s Budget) -> Self {
        let function = &skeleton.functions[number];
        let mut names = shared.names.clone();
        let bits = function.locals.iter();
        let locals = bits.map(|slot| bit_names(&mut names, &slot.name, slot.ty.bits, "")).collect();
        Writer { skeleton, budget, shared, function, number, locals, temporaries: 0 }
    }

    pub fn procedure(mut self) -> Result<Procedure, Diagnostic> {
        let mut body = Vec::new();
        for block in &self.function.blocks {
            body.extend(self.block(block)?);
        }
        let (parameters, own) = self.locals.split_at(self.function.parameters);
        let parameters = parameters.iter().flatten().map(Name::new).collect();
        let mut locals: Vec<Declaration> = own.iter().flatten().map(|name| declared(name)).collect();
        locals.extend((0..self.temporaries).map(|number| declared(&temporary(number))));
        let name = &self.shared.functions[self.number];
        Ok(procedure(name, self.function.results, parameters, locals, body))
    }

    fn block(&mut self, block: &Block) -> Result<Vec<Statement>, Diagnostic> {
        let mut statements = Vec::new();
        for (step, span) in &block.steps {
            go_on(self.budget)?;
            statements.extend(self.step(step, *span, &block.label)?);
        }
        match statements.first_mut() {
            // Labels of the same block may stand there already: those of a switch.
            Some(first) => first.labels.insert(0, Name::new(&block.label)),
            None => {
                let mut skip = Statement::new(StatementKind::Skip);
                skip.labels.push(Name::new(&block.label));
                statements.push(skip);
            }
        }
        Ok(statements)
    }

    fn step(&mut self, step: &Step, span: Span, label: &str) -> Result<Vec<Statement>, Diagnostic> {
        match step {
            Step::Switch => Ok(self.switch(label)),
            Step::Stop => Ok(self.stop()),
            Step::Goto(labels) => Ok(vec![goto(labels)]),
            Step::Assume(condition) => {
                let touched = Touched { kept: 0, exprs: &[condition], writes: false, span };
                self.in_each_round(&touched, &mut |_, blaster| {
                    let condition = blaster.truth(condition)?;
                    Ok(vec![Statement::new(StatementKind::Assume(condition))])
                })
            }
            Step::Require(condition) => {
                let touched = Touched { kept: 0, exprs: &[condition], writes: false, span };
                self.in_each_round(&touched, &mut |writer, blaster| {
                    let condition = blaster.truth(condition)?;
                    Ok(vec![writer.fail_if(not(condition))])
                })
            }
            Step::Assign(assignments) => {
                let mut exprs: Vec<&Expr> = assignments.iter().map(|(_, value)| value).collect();
                let indices = assignments.iter().flat_map(|(place, _)| &place.indices);
                exprs.extend(indices.map(|index| &index.value));
                let writes = assignments.iter().any(|(place, _)| place.scope == Scope::Global);
                let touched = Touched { kept: 0, exprs: &exprs, writes, span };
                self.in_each_round(&touched, &mut |_, blaster| {
                    Ok(parallel(blaster, assignments)?.into_iter().collect())
                })
            }
            Step::Call { function, args, results } => self.call(*function, args, results, span),
            Step::Return(values) => {
                let exprs: Vec<&Expr> = values.iter().collect();
                let touched = Touched { kept: 0, exprs: &exprs, writes: false, span };
                self.in_each_round(&touched, &mut |writer, blaster| {
                    let mut returned = Vec::new();
                    for value in values {
                        returned.extend(blaster.low(value, 1)?);
                    }
                    returned.resize(writer.function.results, Formula::any());
                    Ok(vec![Statement::new(StatementKind::Return(returned))])
                })
            }
        }
    }

    /// Before a statement, and so before the first too: go on, or let a round pass and choose again, or give up.
    fn switch(&self, label: &str) -> Vec<Statement> {
        let (next, stop, go) = (format!("{label}_next"), format!("{label}_stop"), format!("{label}_go"));
        let rounds = &self.shared.rounds;
        let mut statements = Vec::new();
        let labelled = |statements: &mut Vec<Statement>, label: &str, mut list: Vec<Statement>| {
            if let Some(first) = list.first_mut() {
                first.labels.insert(0, Name::new(label));
            }
            statements.append(&mut list);
        };
        if rounds.len() == 1 {
            statements.push(goto(&[go.clone(), stop.clone()]));
        } else {
            statements.push(goto(&[go.clone(), next.clone(), stop.clone()]));
            let last = rounds.last().map_or(bits::constant(false), Formula::variable);
            let mut passing = vec![set(&rounds[0], false)];
            passing.extend(rounds.windows(2).map(|pair| (pair[1].clone(), Formula::variable(&pair[0]))));
            let step = vec![
                Statement::new(StatementKind::Assume(not(last))),
                assign(passing),
                goto(&[label.to_string()]),
            ];
            labelled(&mut statements, &next, step);
        }
        labelled(&mut statements, &stop, self.stop());
        labelled(&mut statements, &go, vec![Statement::new(StatementKind::Skip)]);
        statements
    }

    fn stop(&self) -> Vec<Statement> {
        vec![assign(vec![set(&self.shared.gone, true)]), self.leave()]
    }

    fn leave(&self) -> Statement {
        Statement::new(StatementKind::Return(vec![Formula::any(); self.function.results]))
    }

    fn fail_if(&self, condition: Formula) -> Statement {
        let failed = assign(vec![set(&self.shared.failed, true), set(&self.shared.gone, true)]);
        let branches = vec![(condition, vec![failed, self.leave()])];
        Statement::new(StatementKind::If { branches, otherwise: None })
    }

    fn call(
        &mut self,
        function: usize,
        args: &[Expr],
        results: &[Place],
        span: Span,
    ) -> Result<Vec<Statement>, Diagnostic> {
        let callee = &self.skeleton.functions[function];
        let widths: Vec<usize> =
            callee.locals[..callee.parameters].iter().map(|slot| slot.ty.bits.into()).collect();
        if results.iter().any(|place| place.scope != Scope::Nowhere && place.ty.bits != 1) {
            return Err(refused(span, "a procedure returns a number"));
        }
        // Arguments are computed in the round of the call, results are kept in that of the return.
        let total: usize = widths.iter().sum();
        let kept = total.max(callee.results);
        let exprs: Vec<&Expr> = args.iter().collect();
        let touched = Touched { kept, exprs: &exprs, writes: false, span };
        let mut statements = self.in_each_round(&touched, &mut |_, blaster| {
            let mut assignments = Vec::new();
            for (arg, width) in args.iter().zip(&widths) {
                for bit in blaster.low(arg, *width)? {
                    assignments.push((temporary(assignments.len()), bit));
                }
            }
            Ok(if assignments.is_empty() { Vec::new() } else { vec![assign(assignments)] })
        })?;
        self.temporaries = self.temporaries.max(kept);
        statements.push(Statement::new(StatementKind::Call {
            targets: (0..callee.results).map(|number| Name::new(temporary(number))).collect(),
            procedure: Name::new(self.shared.functions[function].clone()),
            arguments: (0..total).map(|number| Formula::variable(temporary(number))).collect(),
        }));
        let branches = vec![(Formula::variable(&self.shared.gone), vec![self.leave()])];
        statements.push(Statement::new(StatementKind::If { branches, otherwise: None }));
        let indices: Vec<&Expr> =
            results.iter().flat_map(|place| &place.indices).map(|index| &index.value).collect();
        let writes = results.iter().any(|place| place.scope == Scope::Global);
        let touched = Touched { kept, exprs: &indices, writes, span };
        statements.extend(self.in_each_round(&touched, &mut |_, blaster| {
            let values = (0..callee.results).map(|number| vec![Formula::variable(temporary(number))]);
            Ok(stored(blaster, results.iter().zip(values).collect())?.into_iter().collect())
        })?);
        Ok(statements)
    }

    /// The step for every round, if it touches shared variables, and once otherwise.
    fn in_each_round(&mut self, step: &Touched<'_>, write: Write<'_>) -> Result<Vec<Statement>, Diagnostic> {
        let Touched { kept, exprs, writes, span } = *step;
        let mut reads = false;
        for expr in exprs {
            expr.visit(&mut |inner| {
                reads |= matches!(inner, Expr::Load(place) if place.scope == Scope::Global);
            });
        }
        let rounds = if reads || writes { self.skeleton.contexts } else { 1 };
        let mut branches = Vec::new();
        for round in 0..rounds {
            let variables = |scope: Scope, slot: u32| match scope {
                Scope::Global => {
                    let signed =
                        self.skeleton.shared.get(slot as usize).is_some_and(|(slot, _)| slot.ty.signed);
                    (self.shared.copies[round][slot as usize].clone(), signed)
                }
                _ => {
                    let signed = self.function.locals.get(slot as usize).is_some_and(|slot| slot.ty.signed);
                    (self.locals.get(slot as usize).cloned().unwrap_or_default(), signed)
                }
            };
            let mut blaster = Blaster::new(&variables, &temporary, span, self.budget);
            blaster.temporaries = kept;
            let step = write(self, &mut blaster)?;
            let Blaster { before: mut statements, faults, temporaries, .. } = blaster;
            if let Some(fault) = faults.into_iter().reduce(or) {
                statements.push(self.fail_if(fault));
            }
            statements.extend(step);
            let used = temporaries;
            branches.push((Formula::variable(&self.shared.rounds[round]), statements, used));
        }
        let most = branches.iter().map(|(.., used)| *used).max().unwrap_or(0);
        self.temporaries = self.temporaries.max(most);
        let mut branches: Vec<_> =
            branches.into_iter().map(|(round, statements, _)| (round, statements)).collect();
        if branches.iter().all(|(_, statements)| statements.is_empty()) {
            return Ok(Vec::new());
        }
        if branches.len() == 1 {
            return Ok(branches.pop().map(|(_, statements)| statements).unwrap_or_default());
        }
        let otherwise = branches.pop().map(|(_, statements)| statements);
        Ok(vec![Statement::new(StatementKind::If { branches, otherwise })])
    }
}

fn temporary(number: usize) -> String {
    format!("t{}__", number + 1)
}

fn goto(labels: &[String]) -> Statement {
    Statement::new(StatementKind::Goto(labels.iter().map(Name::new).collect()))
}

fn parallel(
    blaster: &mut Blaster<'_>,
    assignments: &[(Place, Expr)],
) -> Result<Option<Statement>, Diagnostic> {
    let mut values = Vec::new();
    for (place, value) in assignments {
        let width = match place.scope {
            Scope::Nowhere => 1,
            scope => (blaster.variables)(scope, place.slot).0.len(),
        };
        // The slot may be wider than the type: two variables can share it.
        let kept = width.min(usize::from(place.ty.bits));
        let low = blaster.low(value, kept)?;
        values.push((place, Bits { bits: low, signed: place.ty.signed }.extended(width)));
    }
    stored(blaster, values)
}

/// All at once; what is behind wins if two places are the same. `None` if there is nothing to store.
fn stored(
    blaster: &mut Blaster<'_>,
    values: Vec<(&Place, Vec<Formula>)>,
) -> Result<Option<Statement>, Diagnostic> {
    let mut outcome: BTreeMap<(Scope, u32), Vec<Formula>> = BTreeMap::new();
    for (place, bits) in values {
        if place.scope == Scope::Nowhere {
            continue;
        }
        let spots = blaster.spots(place)?;
        let bits = match spots.len() {
            1 => bits,
            _ => bits.into_iter().map(|bit| blaster.shared(bit)).collect(),
        };
        for (condition, slot) in spots {
            go_on(blaster.budget)?;
            let key = (place.scope, slot);
            let names = (blaster.variables)(place.scope, slot).0;
            let old = outcome.remove(&key);
            let old = old.unwrap_or_else(|| names.into_iter().map(Formula::variable).collect());
            let always = condition == bits::constant(true);
            let new = bits.iter().cloned().zip(old).map(|(new, old)| match always {
                true => new,
                false => mux(&condition, new, old),
            });
            outcome.insert(key, new.collect());
        }
    }
    let mut assignments = Vec::new();
    for ((scope, slot), bits) in outcome {
        let names = (blaster.variables)(scope, slot).0;
        assignments.extend(names.into_iter().zip(bits));
    }
    Ok((!assignments.is_empty()).then(|| assign(assignments)))
}
