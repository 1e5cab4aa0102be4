//! From the arguments to a model, for every verb that needs one.

use crate::args::{Colour, Dialect, ModelArgs};
use crate::backend::trail::StatementNumbers;
use crate::backend::{self, Additions, Interpreter, Loaded, Model, System};
use crate::console::{self, Failure};
use crate::input;
use crate::job;
use crate::plan::{Engine, Input, Plan, plan};
use preempt_core::SourceMap;
use preempt_report::render_diagnostics;

/// A model without errors, ready to be explored.
pub struct Ready {
    pub file: String,
    pub model: Model,
    pub sources: SourceMap,
    /// Spin's numbers of the statements, if the model is Promela.
    pub numbers: StatementNumbers,
}

/// `None` if the input has errors; they have been printed.
pub fn ready(
    args: &ModelArgs,
    engine: Engine,
    formula: Option<&str>,
    colour: Colour,
) -> Result<Option<Ready>, Failure> {
    prepared(args, input::read(args)?, engine, formula, colour)
}

/// As [`ready`], from a text that was read already.
pub fn prepared(
    args: &ModelArgs,
    source: input::Model,
    engine: Engine,
    formula: Option<&str>,
    colour: Colour,
) -> Result<Option<Ready>, Failure> {
    let plan = plan(source.input, engine).map_err(|why| no_plan(source.input, engine, why))?;
    match plan {
        Plan::NetByCoverability(_) => Err(Failure::new("this is a net; only `check` takes it")),
        Plan::BooleanByReference | Plan::BooleanByExplicit | Plan::BooleanBySymbolic => {
            boolean(args, source, formula, colour)
        }
        Plan::PromelaByReference | Plan::PromelaByExplicit | Plan::PromelaBySymbolic => {
            if args.dialect.is_some() || args.error_label.is_some() {
                return Err(Failure::new("--dialect and --error-label are for Boolean programs"));
            }
            let additions = additions(args, formula);
            let loaded = backend::load(&source.name, &source.text, &additions, &mut input::read_include);
            // What was cut short is no model.
            job::check()?;
            Ok(sound(loaded, source.name, colour))
        }
    }
}

/// What the command line says about a Promela model.
pub(super) fn additions(args: &ModelArgs, formula: Option<&str>) -> Additions {
    let defines = args.defines.iter().map(|define| (define.name.clone(), define.value.clone()));
    let (defines, formula) = (defines.collect(), formula.map(str::to_string));
    Additions { defines, formula, budget: job::current().budget.clone() }
}

fn boolean(
    args: &ModelArgs,
    source: input::Model,
    formula: Option<&str>,
    colour: Colour,
) -> Result<Option<Ready>, Failure> {
    if formula.is_some() {
        return Err(Failure::new("--ltl is for Promela models; a Boolean program has assertions"));
    }
    if !args.defines.is_empty() {
        return Err(Failure::new("-D is for Promela models; a Boolean program has no macros"));
    }
    let dialect = args.dialect.map(|dialect| match dialect {
        Dialect::Satabs => backend::Dialect::Satabs,
        Dialect::Getafix => backend::Dialect::Getafix,
    });
    let options = backend::BooleanOptions { dialect, error_label: args.error_label.clone() };
    let preempt_boolean::Loaded { model, sources, diagnostics } =
        backend::load_boolean(&source.name, &source.text, &options, &job::current().budget);
    job::check()?;
    let loaded = Loaded { model, sources, diagnostics, numbers: StatementNumbers::default(), stopped: None };
    Ok(sound(loaded, source.name, colour))
}

pub(super) fn no_plan(input: Input, engine: Engine, why: &str) -> Failure {
    Failure::new(format!("{} with the {} engine: {why}", input.name(), engine.name()))
}

/// Prints the diagnostics; the model if none of them is an error. A front end without a model has said why.
fn sound(loaded: Loaded, file: String, colour: Colour) -> Option<Ready> {
    let Loaded { model, sources, diagnostics, numbers, stopped: _ } = loaded;
    let style = console::stderr_style(colour);
    console::complain(&render_diagnostics(&diagnostics, &sources, console::stderr_width(), style));
    if diagnostics.iter().any(|diagnostic| diagnostic.is_error()) {
        return None;
    }
    if !diagnostics.is_empty() {
        // On a terminal the result follows: keep it apart from the warnings.
        console::complain("\n");
    }
    model.map(|model| Ready { file, model, sources, numbers })
}

impl Ready {
    /// Without procedures, for engines that list states one by one. Fails if a procedure calls itself: then there may
    /// be no end of states.
    pub fn without_procedures(self) -> Result<Ready, Failure> {
        if !backend::inline::has_procedures(&self.model) {
            return Ok(self);
        }
        let inlined = backend::inline::inline_within(&self.model, &job::current().budget);
        job::check()?;
        let model = inlined.map_err(|why| {
            Failure::new(format!("`{}` cannot be explored state by state: {why}", self.file))
                .hint("`preempt sequentialize` takes recursion; so does every engine that works with sets of states")
        })?;
        Ok(Ready { model, ..self })
    }

    /// Fails if the initial values have no meaning.
    pub fn interpreter(&self) -> Result<Interpreter<'_>, Failure> {
        self.interpreter_of(&self.model)
    }

    /// For the model as a question sees it.
    pub fn interpreter_of<'a>(&'a self, model: &'a Model) -> Result<Interpreter<'a>, Failure> {
        let interpreter = Interpreter::new(model, &self.sources)
            .map_err(|fault| Failure::new(format!("in an initial value of `{}`: {}", self.file, fault.0)))?;
        interpreter.work_within(&job::current().budget);
        Ok(interpreter)
    }
}
