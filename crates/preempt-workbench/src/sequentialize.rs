//! A concurrent program with a bound on contexts, as a sequential program.

use crate::error::{Error, Mistakes};
use crate::model::LoadedModel;
use preempt_boolean::{print, sequentialize};
use preempt_core::Budget;

/// How often each thread may have its turn, at most.
pub const MOST_CONTEXTS: usize = sequentialize::MAX_CONTEXTS;

/// The language of the sequential program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// A Boolean program; integers become bits.
    Boolean,
    /// C with assumptions and nondeterministic values, for CBMC and its kind.
    C,
    /// Promela, for programs without recursion.
    Promela,
    /// The language of NuSMV, for programs without recursion.
    Smv,
}

/// The program, with a comment that says what it was made from.
pub fn sequentialize(
    loaded: &LoadedModel,
    contexts: usize,
    language: Language,
    budget: &Budget,
) -> Result<String, Error> {
    if contexts == 0 || contexts > MOST_CONTEXTS {
        return Err(Error::refused(format!(
            "--contexts {contexts}: it must lie between 1 and {MOST_CONTEXTS}"
        )));
    }
    let LoadedModel { model, sources, .. } = loaded;
    let written = match language {
        Language::Boolean => sequentialize::to_boolean(model, sources, contexts, budget)
            .map(|program| print::program(&program)),
        Language::C => sequentialize::to_c(model, sources, contexts, budget),
        Language::Promela => sequentialize::to_promela(model, sources, contexts, budget),
        Language::Smv => sequentialize::to_smv(model, sources, contexts, budget),
    };
    if let Some(reason) = budget.exhausted() {
        return Err(Error::Stopped(reason));
    }
    let text = written.map_err(|mistake| {
        Error::Mistakes(Box::new(Mistakes { diagnostics: vec![mistake], sources: sources.clone() }))
    })?;
    let most = if contexts == 1 { "1 context".into() } else { format!("{contexts} contexts") };
    let name = format!("made from {}, at most {most} per thread", loaded.file);
    Ok(match language {
        Language::Boolean => format!("// {name}\n{text}"),
        Language::C | Language::Promela => format!("/* {} */\n{text}", name.replace("*/", "* /")),
        Language::Smv => format!("-- {name}\n{text}"),
    })
}
