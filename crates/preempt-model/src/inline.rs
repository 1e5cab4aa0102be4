//! Copies of procedures in the place of calls. There is one step for each step of the original, with the same text and the
//! same number at its location, so that a run of the one is a run of the other.
//!
//! [`inline()`] leaves no procedure, for engines that know one frame a process; recursion has no such form. The copy can be
//! exponentially larger than the model, since a procedure that calls another twice copies it twice; from a million locations
//! on it is refused. [`inline_leaves`] takes only small procedures that call nothing else, for engines that pay for each
//! call. Locals of a procedure lie behind those of its caller and become 0 when it returns, so that a state after a call does
//! not remember it.

use crate::{
    Code, CodeId, CodeKind, Command, Edge, Expr, Index, Init, Location, LocationId, Model, Place, Scope,
    Type, Variable,
};
use preempt_core::{Budget, StopReason};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// More locations than this are refused.
const MAX_LOCATIONS: usize = 1_000_000;
/// And so are calls within calls beyond this: each is a level of recursion here.
const MAX_DEPTH: usize = 500;
/// A leaf has so many locations at most, with the leaves that it calls in it.
const LEAF_LOCATIONS: usize = 100;
/// A code with its leaves in it has so many times the locations that it had, and this many more, at most.
const GROWTH: (usize, usize) = (4, 500);

/// Why calls cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CannotInline {
    /// This procedure can be called while it is executed.
    Recursive(String),
    /// More locations, or calls within calls, than are allowed.
    TooLarge,
    /// Something that the front end does not make: initial values of a procedure that are no constants.
    Values(String),
    /// A limit was reached first.
    Stopped(StopReason),
}

impl std::fmt::Display for CannotInline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CannotInline::Recursive(name) => write!(f, "the procedure `{name}` calls itself"),
            CannotInline::TooLarge => {
                write!(
                    f,
                    "with every call expanded it has more than {MAX_LOCATIONS} locations, \
                     or more than {MAX_DEPTH} calls within each other"
                )
            }
            CannotInline::Values(name) => {
                write!(f, "the initial values of the procedure `{name}` are no constants")
            }
            CannotInline::Stopped(_) => write!(f, "a limit was reached before every call was expanded"),
        }
    }
}

impl std::error::Error for CannotInline {}

/// Does the model have procedures? Also if none of them is ever called: an engine that knows no procedures does not want
/// to see them.
pub fn has_procedures(model: &Model) -> bool {
    model.codes.iter().any(|code| code.kind == CodeKind::Procedure)
}

/// The model with every call expanded.
pub fn inline(model: &Model) -> Result<Model, CannotInline> {
    inline_within(model, &Budget::unlimited())
}

/// The same, unless the budget is exhausted first: copies of copies can be many.
pub fn inline_within(model: &Model, budget: &Budget) -> Result<Model, CannotInline> {
    let kept: Vec<usize> =
        (0..model.codes.len()).filter(|code| model.codes[*code].kind != CodeKind::Procedure).collect();
    let number = |old: CodeId| {
        let new = kept.iter().position(|code| *code == usize::from(old.0));
        CodeId(new.unwrap_or_default() as u16)
    };
    let mut result = Model { codes: Vec::new(), ..model.clone() };
    for start in &mut result.start {
        start.code = number(start.code);
    }
    for code in &kept {
        let mut expanded = Expansion::new(model, &model.codes[*code], None, budget).whole()?;
        for edge in expanded.locations.iter_mut().flat_map(|location| &mut location.edges) {
            if let Command::Run { code, .. } = &mut edge.command {
                *code = number(*code);
            }
        }
        result.codes.push(expanded);
    }
    Ok(result)
}

/// The model with calls of leaves expanded: small procedures that call nothing but leaves, and start nobody. Codes keep their
/// numbers; a procedure that is not called any more is empty.
///
/// Starts stay where they are, since a start in two copies of a procedure would be two starts. Copies that would be much larger
/// than the model are refused.
pub fn inline_leaves(model: &Model, budget: &Budget) -> Result<Model, CannotInline> {
    let leaves = leaves(model);
    let mut result = model.clone();
    for (number, code) in model.codes.iter().enumerate() {
        let id = CodeId(number as u16);
        result.codes[number] = match leaves.contains(&id) {
            true => Code {
                parameters: Vec::new(),
                variables: Vec::new(),
                slots: 0,
                init: Vec::new(),
                locations: vec![Location::default()],
                entry: LocationId(0),
                labels: Vec::new(),
                ..code.clone()
            },
            false => {
                let expanded = Expansion::new(model, code, Some(&leaves), budget).whole()?;
                if expanded.locations.len() > GROWTH.0 * code.locations.len() + GROWTH.1 {
                    return Err(CannotInline::TooLarge);
                }
                expanded
            }
        };
    }
    Ok(result)
}

/// A least fixed point, so that nothing that calls itself is among them.
fn leaves(model: &Model) -> BTreeSet<CodeId> {
    let mut sizes: BTreeMap<CodeId, usize> = BTreeMap::new();
    loop {
        let before = sizes.len();
        for (number, code) in model.codes.iter().enumerate() {
            let id = CodeId(number as u16);
            if code.kind == CodeKind::Procedure
                && !sizes.contains_key(&id)
                && let Some(size) = leaf_size(code, &sizes)
            {
                sizes.insert(id, size);
            }
        }
        if sizes.len() == before {
            return sizes.into_keys().collect();
        }
    }
}

/// How many locations a procedure has with the leaves that it calls in it, if that makes it a leaf.
fn leaf_size(code: &Code, leaves: &BTreeMap<CodeId, usize>) -> Option<usize> {
    let constant = |init: &Init| matches!(init, Init::Set { value: Expr::Const(_), .. });
    if !code.init.iter().all(constant) {
        return None;
    }
    let mut size = code.locations.len();
    for edge in code.locations.iter().flat_map(|location| &location.edges) {
        match &edge.command {
            Command::Call { code, .. } => size += leaves.get(code)?,
            Command::Run { .. } => return None,
            _ => {}
        }
    }
    (size <= LEAF_LOCATIONS).then_some(size)
}

/// One process while its calls are expanded.
struct Expansion<'m> {
    model: &'m Model,
    /// What is expanded; `None` for everything.
    only: Option<&'m BTreeSet<CodeId>>,
    budget: &'m Budget,
    root: &'m Code,
    result: Code,
    /// Where the locals of a procedure lie, called from the one whose locals lie there: it is in one call at a time.
    bases: HashMap<(u32, u16), u32>,
}

/// A code in the place of a call.
struct Instance<'m> {
    code: &'m Code,
    base: u32,
    /// The procedures that lead here, for the names of variables.
    path: String,
}

/// A call in a code.
struct Call<'c> {
    code: CodeId,
    args: &'c [Expr],
    results: &'c [Place],
    /// Where the caller goes on.
    target: LocationId,
}

/// Where a call comes back to.
struct Return<'m> {
    target: LocationId,
    results: Vec<Place>,
    callee: &'m Code,
    base: u32,
}

impl<'m> Expansion<'m> {
    fn new(
        model: &'m Model,
        root: &'m Code,
        only: Option<&'m BTreeSet<CodeId>>,
        budget: &'m Budget,
    ) -> Expansion<'m> {
        let result = Code { locations: Vec::new(), ..root.clone() };
        Expansion { model, only, budget, root, result, bases: HashMap::new() }
    }

    /// The code with everything that is to be expanded in it.
    fn whole(mut self) -> Result<Code, CannotInline> {
        let root = Instance { code: self.root, base: 0, path: String::new() };
        self.result.entry = self.expand(&root, None, &mut Vec::new())?;
        Ok(self.result)
    }

    /// Copies the code of an instance and everything it calls; gives its entry. `active` are the calls around it.
    fn expand(
        &mut self,
        instance: &Instance<'m>,
        back: Option<&Return<'m>>,
        active: &mut Vec<CodeId>,
    ) -> Result<LocationId, CannotInline> {
        let first = self.result.locations.len() as u32;
        let moved = |location: LocationId| LocationId(first + location.0);
        let count = instance.code.locations.len();
        if self.result.locations.len() + count > MAX_LOCATIONS || active.len() > MAX_DEPTH {
            return Err(CannotInline::TooLarge);
        }
        for location in &instance.code.locations {
            self.result.locations.push(Location { edges: Vec::new(), ..location.clone() });
        }
        for (number, location) in instance.code.locations.iter().enumerate() {
            if let Some(reason) = self.budget.exhausted() {
                return Err(CannotInline::Stopped(reason));
            }
            let mut edges = Vec::new();
            for edge in &location.edges {
                let (command, target) = match &edge.command {
                    Command::Call { code, args, results }
                        if self.only.is_none_or(|only| only.contains(code)) =>
                    {
                        let call = Call { code: *code, args, results, target: moved(edge.target) };
                        self.call(instance, &call, active)?
                    }
                    Command::Return(values) => match back {
                        Some(back) => (returned(values, instance.base, back), back.target),
                        None => (edge.command.clone(), moved(edge.target)),
                    },
                    command => (shifted(command, instance.base), moved(edge.target)),
                };
                edges.push(Edge { command, target, ..edge.clone() });
            }
            self.result.locations[first as usize + number].edges = edges;
        }
        if instance.base == 0 && back.is_none() {
            let labels = instance.code.labels.iter();
            self.result.labels = labels.map(|(name, at)| (name.clone(), moved(*at))).collect();
        }
        Ok(moved(instance.code.entry))
    }

    fn call(
        &mut self,
        caller: &Instance<'m>,
        &Call { code: id, args, results, target }: &Call<'_>,
        active: &mut Vec<CodeId>,
    ) -> Result<(Command, LocationId), CannotInline> {
        let callee = self.model.code(id);
        if active.contains(&id) {
            return Err(CannotInline::Recursive(callee.name.clone()));
        }
        let path = format!("{}{}.", caller.path, callee.name);
        let base = self.base(caller.base, id, callee, &path);
        let back = Return {
            target,
            results: results.iter().map(|place| moved_place(place, caller.base)).collect(),
            callee,
            base,
        };
        active.push(id);
        let entry = self.expand(&Instance { code: callee, base, path }, Some(&back), active)?;
        active.pop();
        let mut values: Vec<Expr> = args.iter().map(|arg| moved_expr(arg, caller.base)).collect();
        values.resize(callee.slots as usize, Expr::Const(0));
        for init in &callee.init {
            match init {
                Init::Set { slot, value: Expr::Const(value), .. } => {
                    values[*slot as usize] = Expr::Const(*value)
                }
                _ => return Err(CannotInline::Values(callee.name.clone())),
            }
        }
        let assignments = values.into_iter().enumerate().map(|(slot, value)| {
            let slot = slot as u32;
            (Place::scalar(Scope::Local, base + slot, type_of(callee, slot)), value)
        });
        Ok((assigned(assignments.collect()), entry))
    }

    fn base(&mut self, caller: u32, id: CodeId, callee: &Code, path: &str) -> u32 {
        if let Some(base) = self.bases.get(&(caller, id.0)) {
            return *base;
        }
        let base = self.result.slots;
        self.result.slots += callee.slots;
        for variable in &callee.variables {
            let mut variable = variable.clone();
            variable.name = format!("{path}{}", variable.name);
            variable.slot += base;
            self.result.variables.push(variable);
        }
        self.bases.insert((caller, id.0), base);
        base
    }
}

fn type_of(code: &Code, slot: u32) -> Type {
    let holds =
        |variable: &&Variable| (variable.slot..variable.slot + variable.length.unwrap_or(1)).contains(&slot);
    let declared = code.variables.iter().find(holds).map(|variable| variable.ty);
    declared.or_else(|| code.parameters.get(slot as usize).copied()).unwrap_or(Type::INT)
}

/// Results to their places; what the procedure had is forgotten.
fn returned(values: &[Expr], base: u32, back: &Return<'_>) -> Command {
    let values = values.iter().map(|value| moved_expr(value, base));
    // What nobody takes is computed all the same.
    let places = back.results.iter().cloned().chain(std::iter::repeat_with(Place::nowhere));
    let mut assignments: Vec<(Place, Expr)> = places.zip(values).collect();
    let own = 0..back.callee.slots;
    assignments.extend(own.map(|slot| {
        (Place::scalar(Scope::Local, back.base + slot, type_of(back.callee, slot)), Expr::Const(0))
    }));
    assigned(assignments)
}

fn assigned(assignments: Vec<(Place, Expr)>) -> Command {
    if assignments.is_empty() { Command::SKIP } else { Command::Assign(assignments) }
}

/// The command with its locals moved. Only what Boolean programs are made of has any.
fn shifted(command: &Command, base: u32) -> Command {
    let expr = |expr: &Expr| moved_expr(expr, base);
    match command {
        Command::Guard(condition) => Command::Guard(expr(condition)),
        Command::Assert(condition) => Command::Assert(expr(condition)),
        Command::Assign(assignments) => {
            let moved = assignments.iter().map(|(place, value)| (moved_place(place, base), expr(value)));
            Command::Assign(moved.collect())
        }
        Command::Print { format, args } => {
            Command::Print { format: format.clone(), args: args.iter().map(expr).collect() }
        }
        Command::Call { code, args, results } => Command::Call {
            code: *code,
            args: args.iter().map(expr).collect(),
            results: results.iter().map(|place| moved_place(place, base)).collect(),
        },
        Command::Return(values) => Command::Return(values.iter().map(expr).collect()),
        Command::Run { code, args, priority, result } => Command::Run {
            code: *code,
            args: args.iter().map(expr).collect(),
            priority: *priority,
            result: result.as_ref().map(|(place, value)| (moved_place(place, base), expr(value))),
        },
        other => other.clone(),
    }
}

fn moved_place(place: &Place, base: u32) -> Place {
    let indices =
        place.indices.iter().map(|index| Index { value: moved_expr(&index.value, base), ..index.clone() });
    let slot = if place.scope == Scope::Local { place.slot + base } else { place.slot };
    Place { slot, indices: indices.collect(), ..place.clone() }
}

fn moved_expr(expr: &Expr, base: u32) -> Expr {
    let inner = |expr: &Expr| Box::new(moved_expr(expr, base));
    match expr {
        Expr::Load(place) => Expr::load(moved_place(place, base)),
        Expr::Unary(operator, operand) => Expr::Unary(*operator, inner(operand)),
        Expr::Binary(operator, left, right) => Expr::Binary(*operator, inner(left), inner(right)),
        Expr::Conditional(condition, then, otherwise) => {
            Expr::Conditional(inner(condition), inner(then), inner(otherwise))
        }
        other => other.clone(),
    }
}
