//! Sequential programs without procedures: as Promela, read by the Promela front end, they fail if and only if the concurrent program
//! does within the contexts; and in NuSMV's language they are whole.

use crate::common::fails_within;
use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{BooleanOptions, load, print, sequentialize};
use preempt_core::{Budget, SourceMap};
use preempt_model::Model;

fn model(text: &str) -> (Model, SourceMap) {
    let loaded = load("test.bp", text, &BooleanOptions::default());
    (loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics)), loaded.sources)
}

fn promela(text: &str) -> (Model, SourceMap) {
    let mut read = |name: &str| Err(name.to_string());
    let loaded = preempt_promela::load("sequential.pml", text, &Default::default(), &mut read);
    (loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics)), loaded.sources)
}

#[test]
fn promela_fails_if_and_only_if_the_program_does() {
    let cases = std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(25u64);
    let (mut compared, mut failing) = (0, 0);
    for seed in 0..cases {
        for (threads, contexts) in [(1, 1), (2, 1), (2, 2)] {
            let shape = Shape { statements: 3, ..Shape::small(threads) };
            let text = print::program(&generator::program(seed, &shape));
            let (program, sources) = model(&text);
            let Some(expected) = fails_within(&program, &sources, contexts, 20_000) else { continue };
            let Ok(written) = sequentialize::to_promela(&program, &sources, contexts, &Budget::unlimited())
            else {
                continue;
            };
            let (sequential, sources) = promela(&written);
            let Some(found) = fails_within(&sequential, &sources, 1, 60_000) else { continue };
            assert_eq!(found, expected, "seed {seed}, {contexts} contexts\n{text}\n{written}");
            compared += 1;
            failing += usize::from(found);
        }
    }
    println!("{compared} compared, {failing} failing");
    assert!(compared > 20 && failing > 2 && failing < compared);
}

/// Every variable has a first value and a next one, and every place that is named exists.
#[test]
fn smv_is_whole() {
    let text = "decl x; void main() begin x := *; start_thread t(); f(); assert(!x); end
                void t() begin x := !x; end void f() begin x := x & *; end";
    let (program, sources) = model(text);
    let written =
        sequentialize::to_smv(&program, &sources, 2, &Budget::unlimited()).expect("it can be written");
    let variables = written.lines().skip_while(|line| *line != "VAR").skip(1);
    let variables: Vec<&str> = variables
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.trim().split(" :").next())
        .collect();
    assert!(variables.len() > 6, "{variables:?}");
    for variable in &variables {
        assert!(written.contains(&format!("init({variable}) :=")), "{variable}\n{written}");
        assert!(written.contains(&format!("next({variable}) := case")), "{variable}\n{written}");
    }
    let depth = |open: char, close: char| written.matches(open).count() == written.matches(close).count();
    assert!(depth('(', ')') && depth('{', '}') && depth('[', ']'));
    assert_eq!(written.matches(":= case").count(), written.matches("esac;").count());
    assert_eq!(written.matches("INVARSPEC").count(), 1);
}

#[test]
fn recursion_and_what_may_have_no_value_are_refused() {
    let (program, sources) = model("void main() begin f(); end void f() begin if * then f(); fi end");
    for written in [
        sequentialize::to_promela(&program, &sources, 1, &Budget::unlimited()),
        sequentialize::to_smv(&program, &sources, 1, &Budget::unlimited()),
    ] {
        let refusal = written.expect_err("f calls itself").message;
        assert_eq!(refusal, "this cannot be written without a stack: `f` calls itself");
    }
    let (indexed, sources) = promela("byte a[2]; byte i; active proctype P() { a[i] = 1; assert(a[0] < 2) }");
    let refusal =
        sequentialize::to_promela(&indexed, &sources, 1, &Budget::unlimited()).expect_err("an index");
    assert!(refusal.message.contains("out of range"), "{}", refusal.message);
}
