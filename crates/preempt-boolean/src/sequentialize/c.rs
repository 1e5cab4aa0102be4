//! The sequential program as C, with the assumptions and nondeterministic values of CBMC. Integers stay integers.

use super::go_on;
use super::skeleton::{Function, Skeleton, Step};
use super::slots::{Names, Slot};
use preempt_core::{Budget, Diagnostic};
use preempt_model::{BinaryOp, Expr, Place, Scope, Type, UnaryOp};
use std::collections::BTreeSet;
use std::fmt::Write;

const HEAD: &str = "\
#include <assert.h>

#ifndef __CPROVER
void __CPROVER_assume(_Bool condition);
#endif
int nondet_int(void);

/* The round of the thread that runs, whether it has given up, and whether an assertion has failed. */
static int k;
static _Bool gone, failed;

static int choose(int low, int high) {
  int value = nondet_int();
  __CPROVER_assume(low <= value && value <= high);
  return value;
}

/* Before every statement: any number of rounds passes, or the thread gives up. */
static _Bool stops(void) {
  k = choose(k, CONTEXTS - 1);
  return choose(0, 1);
}

static int fail(void) {
  failed = gone = 1;
  return 0;
}

static int at(int index, int length) { return 0 <= index && index < length ? index : fail(); }
static int add(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
static int sub(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
static int mul(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
static int quotient(int a, int b) { return b == 0 ? fail() : b == -1 ? sub(0, a) : a / b; }
static int rest(int a, int b) { return b == 0 ? fail() : b == -1 ? 0 : a % b; }
static int left(int a, int b) { return (int)((unsigned)a << (b & 31)); }
static int right(int a, int b) { return a >> (b & 31); }
static int low(int value, int bits) { return bits >= 32 ? value : (int)((unsigned)value & ((1u << bits) - 1)); }
static int low_signed(int value, int bits) {
  int sign = (int)(1u << (bits - 1));
  return bits >= 32 ? value : sub(low(value, bits) ^ sign, sign);
}
";

pub fn program(skeleton: &Skeleton, budget: &Budget) -> Result<String, Diagnostic> {
    let mut names = Names::default();
    let functions: Vec<String> =
        skeleton.functions.iter().map(|function| names.unique(&format!("run_{}", function.name))).collect();
    let results = skeleton.functions.iter().map(|function| function.results).max().unwrap_or(0).max(1);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "/* Threads take turns, each for at most {} contexts. Try: cbmc --unwind 20 FILE */",
        { skeleton.contexts }
    );
    let _ = writeln!(out, "#define CONTEXTS {}", skeleton.contexts);
    out.push_str(HEAD);
    let _ = writeln!(
        out,
        "\n/* The shared variables, and their copy for each round with what it was guessed to begin with. */"
    );
    let shared: Vec<Slot> = skeleton.shared.iter().map(|(slot, _)| slot.clone()).collect();
    let _ = writeln!(out, "enum {{ {}VARIABLES }};", enumerators("s", &shared));
    out.push_str("static int shared[CONTEXTS][VARIABLES + 1], guess[CONTEXTS][VARIABLES + 1];\n");
    let _ = writeln!(out, "\n/* What a procedure returns. */\nstatic int result[{results}];\n");
    for (name, function) in functions.iter().zip(&skeleton.functions) {
        let _ = writeln!(out, "static void {name}({});", parameters(function));
    }
    for (name, function) in functions.iter().zip(&skeleton.functions) {
        let writer = Writer { skeleton, functions: &functions, function };
        let _ = writeln!(out, "\nstatic void {name}({}) {{", parameters(function));
        writer.body(&mut out, budget)?;
        out.push_str("}\n");
    }
    main(&mut out, skeleton, &functions);
    Ok(out)
}

fn enumerators(prefix: &str, slots: &[Slot]) -> String {
    slots.iter().map(|slot| format!("{prefix}_{}, ", slot.name)).collect()
}

fn parameters(function: &Function) -> String {
    match function.parameters {
        0 => "void".into(),
        count => (0..count).map(|number| format!("int p{number}")).collect::<Vec<_>>().join(", "),
    }
}

fn main(out: &mut String, skeleton: &Skeleton, functions: &[String]) {
    out.push_str(
        "\nint main(void) {\n  /* Round 1 begins with the initial values, the others with guesses. */\n",
    );
    for (slot, value) in &skeleton.shared {
        let _ = writeln!(out, "  shared[0][s_{}] = {};", slot.name, number(*value));
    }
    out.push_str("  for (int round = 1; round < CONTEXTS; round++) {\n");
    for (slot, _) in &skeleton.shared {
        let value = wrapped("nondet_int()", slot.ty);
        let _ = writeln!(out, "    shared[round][s_{0}] = guess[round][s_{0}] = {value};", slot.name);
    }
    out.push_str("  }\n");
    for name in &functions[..skeleton.threads.len()] {
        let _ = writeln!(out, "  k = 0, gone = 0, {name}();");
    }
    out.push_str(
        "  /* The checker: every round began as the one before had ended. */
  for (int round = 1; round < CONTEXTS; round++)
    for (int variable = 0; variable < VARIABLES; variable++)
      __CPROVER_assume(shared[round - 1][variable] == guess[round][variable]);
  assert(!failed);
  return 0;
}
",
    );
}

struct Writer<'s> {
    skeleton: &'s Skeleton,
    functions: &'s [String],
    function: &'s Function,
}

impl Writer<'_> {
    fn body(&self, out: &mut String, budget: &Budget) -> Result<(), Diagnostic> {
        let locals = &self.function.locals;
        if !locals.is_empty() {
            let _ = writeln!(
                out,
                "  enum {{ {}LOCALS }};\n  int local[LOCALS] = {{0}};",
                enumerators("l", locals)
            );
        }
        for (number, slot) in locals.iter().take(self.function.parameters).enumerate() {
            let _ = writeln!(out, "  local[l_{}] = {};", slot.name, wrapped(&format!("p{number}"), slot.ty));
        }
        let steps = self.function.blocks.iter().flat_map(|block| &block.steps);
        let targets: BTreeSet<&String> = steps
            .filter_map(|(step, _)| if let Step::Goto(labels) = step { Some(labels) } else { None })
            .flatten()
            .collect();
        for block in &self.function.blocks {
            // compilers complain about labels that nobody jumps to
            if targets.contains(&block.label) {
                let _ = writeln!(out, "{}:;", block.label);
            }
            for (step, _) in &block.steps {
                go_on(budget)?;
                self.step(out, step);
            }
        }
        Ok(())
    }

    fn step(&self, out: &mut String, step: &Step) {
        let _ = match step {
            Step::Switch => writeln!(out, "  if (stops()) {{ gone = 1; return; }}"),
            Step::Stop => writeln!(out, "  gone = 1;\n  return;"),
            Step::Assume(condition) if is_partial(condition) => writeln!(
                out,
                "  {{\n    int holds = {};\n    if (gone) return;\n    __CPROVER_assume(holds);\n  }}",
                self.expr(condition)
            ),
            Step::Assume(condition) if *condition == Expr::TRUE => Ok(()),
            Step::Assume(condition) => writeln!(out, "  __CPROVER_assume({});", self.expr(condition)),
            Step::Require(condition) => {
                writeln!(out, "  if (!({})) {{ fail(); return; }}", self.expr(condition))
            }
            Step::Assign(assignments) => {
                let values = assignments.iter().map(|(_, value)| self.expr(value)).collect();
                self.assign(out, assignments.iter().map(|(place, _)| place).collect(), values)
            }
            Step::Call { function, args, results } => {
                let args: Vec<String> = args.iter().map(|arg| self.expr(arg)).collect();
                let _ = writeln!(
                    out,
                    "  {}({});\n  if (gone) return;",
                    self.functions[*function],
                    args.join(", ")
                );
                let returned = (0..results.len()).map(|number| format!("result[{number}]")).collect();
                self.assign(out, results.iter().collect(), returned)
            }
            Step::Return(values) => {
                let values: Vec<String> = values.iter().map(|value| self.expr(value)).collect();
                let kept = values.iter().enumerate();
                let kept: String =
                    kept.map(|(number, value)| format!("    int r{number} = {value};\n")).collect();
                let given: String =
                    (0..values.len()).map(|number| format!("    result[{number}] = r{number};\n")).collect();
                writeln!(out, "  {{\n{kept}{given}    return;\n  }}")
            }
            Step::Goto(labels) => match labels.as_slice() {
                [] => writeln!(out, "  gone = 1;\n  return;"),
                [only] => writeln!(out, "  goto {only};"),
                [others @ .., last] => {
                    let cases = others.iter().enumerate();
                    let cases: String =
                        cases.map(|(number, label)| format!("    case {number}: goto {label};\n")).collect();
                    let most = others.len();
                    writeln!(out, "  switch (choose(0, {most})) {{\n{cases}    default: goto {last};\n  }}")
                }
            },
        };
    }

    /// All at once.
    fn assign(&self, out: &mut String, places: Vec<&Place>, values: Vec<String>) -> std::fmt::Result {
        let pairs = places.into_iter().zip(values).filter(|(place, _)| place.scope != Scope::Nowhere);
        let pairs: Vec<(&Place, String)> = pairs.collect();
        let checked = pairs.iter().any(|(place, value)| !place.indices.is_empty() || value.contains('('));
        let stop = if checked { "    if (gone) return;\n" } else { "" };
        match pairs.as_slice() {
            [] => Ok(()),
            [(place, value)] if stop.is_empty() => {
                writeln!(out, "  {} = {};", self.place(place), self.wrapped(value, place))
            }
            several => {
                out.push_str("  {\n");
                for (number, (place, value)) in several.iter().enumerate() {
                    writeln!(out, "    int v{number} = {};", self.wrapped(value, place))?;
                    if !place.indices.is_empty() {
                        writeln!(out, "    int i{number} = {};", self.offset(place))?;
                    }
                }
                out.push_str(stop);
                for (number, (place, _)) in several.iter().enumerate() {
                    let offset = match place.indices.is_empty() {
                        true => self.offset(place),
                        false => format!("i{number}"),
                    };
                    writeln!(out, "    {}[{offset}] = v{number};", self.memory(place))?;
                }
                out.push_str("  }\n");
                Ok(())
            }
        }
    }

    /// Cut to the type of the place, or of the slot if that is narrower.
    fn wrapped(&self, value: &str, place: &Place) -> String {
        let slot = self.slot(place);
        wrapped(value, if place.ty.bits <= slot.ty.bits { place.ty } else { slot.ty })
    }

    fn slot(&self, place: &Place) -> &Slot {
        let at = place.slot as usize;
        match place.scope {
            Scope::Local => &self.function.locals[at],
            _ => &self.skeleton.shared[at].0,
        }
    }

    fn memory(&self, place: &Place) -> &'static str {
        if place.scope == Scope::Local { "local" } else { "shared[k]" }
    }

    fn offset(&self, place: &Place) -> String {
        let prefix = if place.scope == Scope::Local { "l" } else { "s" };
        let mut offset = format!("{prefix}_{}", self.slot(place).name);
        for index in &place.indices {
            let _ = write!(offset, " + at({}, {})", self.expr(&index.value), index.length);
            if index.stride != 1 {
                let _ = write!(offset, " * {}", index.stride);
            }
        }
        offset
    }

    fn place(&self, place: &Place) -> String {
        format!("{}[{}]", self.memory(place), self.offset(place))
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Const(value) => number(*value),
            Expr::Load(place) if place.scope == Scope::Nowhere => "0".into(),
            Expr::Load(place) => self.place(place),
            Expr::Unary(UnaryOp::Not, inner) => format!("!{}", self.operand(inner)),
            Expr::Unary(UnaryOp::Negate, inner) => format!("sub(0, {})", self.expr(inner)),
            Expr::Unary(UnaryOp::Complement, inner) => format!("~{}", self.operand(inner)),
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expr::Conditional(condition, then, otherwise) => {
                format!("{} ? {} : {}", self.operand(condition), self.operand(then), self.operand(otherwise))
            }
            Expr::Any { low, high } => format!("choose({}, {})", number(*low), number(*high)),
            // Refused before.
            _ => "0".into(),
        }
    }

    fn binary(&self, operator: BinaryOp, left: &Expr, right: &Expr) -> String {
        let sign = match operator {
            BinaryOp::Add => return self.helper("add", left, right),
            BinaryOp::Sub => return self.helper("sub", left, right),
            BinaryOp::Mul => return self.helper("mul", left, right),
            BinaryOp::Div => return self.helper("quotient", left, right),
            BinaryOp::Rem => return self.helper("rest", left, right),
            BinaryOp::ShiftLeft => return self.helper("left", left, right),
            BinaryOp::ShiftRight => return self.helper("right", left, right),
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        };
        format!("{} {sign} {}", self.operand(left), self.operand(right))
    }

    fn helper(&self, name: &str, left: &Expr, right: &Expr) -> String {
        format!("{name}({}, {})", self.expr(left), self.expr(right))
    }

    fn operand(&self, expr: &Expr) -> String {
        match expr {
            Expr::Binary(..) | Expr::Conditional(..) => format!("({})", self.expr(expr)),
            _ => self.expr(expr),
        }
    }
}

/// Can evaluating it be without meaning?
fn is_partial(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |inner| {
        found |= match inner {
            Expr::Load(place) => !place.indices.is_empty(),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => true,
            _ => false,
        };
    });
    found
}

/// The smallest number has no literal.
fn number(value: i32) -> String {
    match value {
        i32::MIN => "(-2147483647 - 1)".into(),
        value if value < 0 => format!("({value})"),
        value => value.to_string(),
    }
}

fn wrapped(value: &str, ty: Type) -> String {
    match (ty.bits, ty.signed) {
        (32.., _) => value.to_string(),
        _ if value == "0" || value == "1" && !ty.signed => value.to_string(),
        (bits, true) => format!("low_signed({value}, {bits})"),
        (bits, false) => format!("low({value}, {bits})"),
    }
}
