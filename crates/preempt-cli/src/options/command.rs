//! The parser, made from the rows of the table.

use super::{Colour, Command, CommandLine, ShowLine, help, rows};
use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, ValueHint, value_parser};
use clap_complete::Shell;
use preempt_workbench::settings::{Setting, Value};
use preempt_workbench::{Request, Verb};
use std::ffi::OsString;
use std::path::PathBuf;

/// A verb in words, with the files that it is given.
struct Subcommand {
    verb: Verb,
    about: &'static str,
    details: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const MODEL: (&str, &str) = ("FILE", "The input, or - for stdin");
const NET: (&str, &str) = ("NET", "The net");

const SUBCOMMANDS: [Subcommand; 8] = [
    Subcommand {
        verb: Verb::Check,
        about: "Find the simplest run that breaks a model",
        details: "Promela: failed assertions, run-time errors (an index out of range, a division by zero, a message with the wrong \
                  fields), invalid end states (deadlocks), exclusive channels (xr, xs), trace and notrace, never claims, ltl \
                  formulas, acceptance cycles; with --non-progress cycles without progress. Boolean programs, Remopla and \
                  pushdown systems: assertions, within so many contexts of each thread or without a bound. Nets, protocols, \
                  channels and grammars: whether a target can be covered or something bad be reached, with any number of tokens \
                  or processes.\n\nAll of it is asked together. The run that is shown has the fewest preemptions and, among those, \
                  the fewest steps; it is replayed before it is shown, and what else fails is named.",
        files: &[MODEL],
    },
    Subcommand {
        verb: Verb::Count,
        about: "Count states, transitions and violations",
        details: "Visits the whole state space, or all states within the bound; claims are ignored. A failed assertion is \
                  counted, and its process goes on as if it had held.",
        files: &[MODEL],
    },
    Subcommand {
        verb: Verb::Cluster,
        about: "Check or count with several processes, on one machine or many",
        details: "States are divided among the processes by their hash. Verdict, numbers and run are those of `preempt check \
                  --reduction none`. If all addresses are of this machine, the command starts all processes; else it is started \
                  once for each, with --index, a secret, and the same model and options. It answers one question: safety, or \
                  a claim that only finite runs violate.",
        files: &[MODEL],
    },
    Subcommand {
        verb: Verb::Simulate,
        about: "Run a model once, at random or by hand",
        details: "Prints one line a step. The same seed gives the same run.",
        files: &[MODEL],
    },
    Subcommand {
        verb: Verb::Replay,
        about: "Execute a stored counterexample again",
        details: "The file is one that `check --trace FILE` wrote. Every step is executed again; if one does not fit the model, \
                  the answer says which and why.",
        files: &[MODEL, ("TRACE", "The counterexample, as `check --trace FILE` wrote it")],
    },
    Subcommand {
        verb: Verb::Sequentialize,
        about: "Make a concurrent program sequential",
        details: "The sequential program fails if and only if an assertion of the concurrent one fails within so many contexts \
                  per thread, the threads taking turns. Takes Boolean programs, and Promela models without channels.",
        files: &[MODEL],
    },
    Subcommand {
        verb: Verb::Certify,
        about: "Check a certificate that `check --certificate` wrote",
        details: "By exact arithmetic and without any search: the certificate alone must show that no target of the net can be \
                  covered.",
        files: &[NET, ("CERTIFICATE", "The certificate, as `check --certificate FILE` wrote it")],
    },
    Subcommand {
        verb: Verb::Convert,
        about: "Translate nets and protocols between formats",
        details: "The kind of a file is that of its extension. PNML has no targets: they are read with --properties, and written \
                  next to the net, in a file with the extension .xml. Promela has as many processes, or tokens, as there are: a net must \
                  be bounded, and a protocol is told how many.",
        files: &[NET, ("OUT", "The file to write")],
    },
];

const EXIT_STATUS: &str = "\
Exit status:
  0  the property holds; the text says how far: exhaustively, up to the bound, or approximately
  1  violated: a counterexample was found and replayed
  2  bad usage or bad input: stderr says what, and nothing is written to stdout
  3  inconclusive: a limit was reached, the search was interrupted, or it visits only part
  4  the answer is known, but it or a file could not be written: stderr says which

The result goes to stdout; diagnostics and progress go to stderr.";

const SIMPLEST: &str = "\
Simplest means: fewest preemptions first, then fewest steps. A preemption is a switch away from a process that \
could have gone on.";

/// The whole command.
pub fn command() -> clap::Command {
    let shell = Arg::new("shell")
        .value_name("SHELL")
        .help("The shell to complete for")
        .required(true)
        .value_parser(value_parser!(Shell));
    let page = Arg::new("command")
        .value_name("COMMAND")
        .help("The subcommand to describe; the command itself if there is none");
    let topic = Arg::new("topic").value_name("TOPIC").help("The word; without one, all are listed");
    clap::Command::new("preempt")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Find the simplest run that breaks a concurrent system, or prove there is none")
        .after_help("Exit status: 0 holds, 1 violated, 2 bad usage or input, 3 inconclusive")
        .after_long_help(format!("{SIMPLEST}\n\n{EXIT_STATUS}"))
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(SUBCOMMANDS.iter().map(subcommand))
        .subcommand(show())
        .subcommand(clap::Command::new("engines").about("Show which engine takes which input"))
        .subcommand(clap::Command::new("explain").about("Explain a word in some lines").arg(topic))
        .subcommand(
            clap::Command::new("completions").about("Print a completion script for a shell").arg(shell),
        )
        .subcommand(clap::Command::new("man").about("Print a manual page").hide(true).arg(page))
}

/// The same options as those of the verbs that show a run, under the same words.
const OF_SHOW: [&str; 4] = ["report", "svg", "full", "color"];

fn show() -> clap::Command {
    let about = "Show a stored counterexample, as text and as pictures";
    let trace = Arg::new("TRACE").help("The counterexample, as `check --trace FILE` wrote it");
    let row = |name: &&str| rows(Verb::Check).find(|row| row.name == *name).map(argument);
    clap::Command::new("show")
        .about(about)
        .long_about(format!(
            "{about}\n\nThe model is not needed, and nothing is executed; `preempt replay` does that. The sources beside the run \
             are those that are found under their names."
        ))
        .after_long_help(EXIT_STATUS)
        .arg(trace.required(true).value_parser(value_parser!(PathBuf)).value_hint(ValueHint::FilePath))
        .args(OF_SHOW.iter().filter_map(row))
}

fn show_line(matches: &ArgMatches) -> ShowLine {
    let path = |name: &str| matches.get_raw(name)?.next().map(PathBuf::from);
    ShowLine {
        file: path("TRACE").unwrap_or_default(),
        report: path("report"),
        svg: path("svg"),
        full: matches.get_flag("full"),
        colour: Colour::of(matches.get_one::<String>("color").map(String::as_str)),
    }
}

fn subcommand(it: &Subcommand) -> clap::Command {
    let file = |(name, help): &(&'static str, &'static str)| {
        let path = value_parser!(PathBuf);
        Arg::new(*name).help(*help).required(true).value_parser(path).value_hint(ValueHint::FilePath)
    };
    clap::Command::new(it.verb.name())
        .about(it.about)
        .long_about(format!("{}\n\n{}", it.about, it.details))
        .after_long_help(EXIT_STATUS)
        .args(it.files.iter().map(file))
        .args(rows(it.verb).map(argument))
}

/// With `-h` a subcommand shows what everybody should know, by what it is about, on one screen ([`help`]).
fn with_short_help(command: clap::Command) -> clap::Command {
    SUBCOMMANDS.iter().fold(command, |command, it| {
        let listed = help::short(it.verb, it.files);
        let page = format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}\n");
        command.mut_subcommand(it.verb.name(), |sub| sub.help_template(page))
    })
}

fn argument(row: &'static Setting) -> Arg {
    let argument = Arg::new(row.name)
        .help(row.help)
        .long_help(format!("{}\n\n{}", row.help, row.details))
        .help_heading(row.group.title())
        .required(row.required);
    let argument = match row.short {
        // A macro has no long name, as for a C compiler.
        Some(letter) if matches!(row.value, Value::Definition) => argument.short(letter),
        Some(letter) => argument.short(letter).long(row.name),
        None => argument.long(row.name),
    };
    let argument = match row.alias {
        Some(name) => argument.alias(name),
        None => argument,
    };
    let Some(name) = row.value.name() else { return argument.action(ArgAction::SetTrue) };
    let argument = argument.value_name(name).value_parser(parser(row));
    match row.value {
        Value::Definition => argument.action(ArgAction::Append),
        Value::File(_) => argument.value_hint(ValueHint::FilePath),
        Value::OneOf(..) | Value::Registered(..) => argument.hide_possible_values(true),
        Value::Text(_) => argument,
        _ => argument.allow_negative_numbers(true),
    }
}

fn parser(row: &'static Setting) -> ValueParser {
    if let Some(choices) = row.value.choices() {
        let possible = choices.into_iter().map(|(name, alias)| PossibleValue::new(name).aliases(alias));
        return PossibleValuesParser::new(possible).into();
    }
    match row.value {
        Value::File(_) => value_parser!(OsString),
        _ => ValueParser::new(|text: &str| row.value.check(text).map(|()| text.to_string())),
    }
}

pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let is_short = arguments.iter().any(|word| word == "-h");
    let command = if is_short { with_short_help(command()) } else { command() };
    let matches = command.try_get_matches_from(arguments)?;
    Ok(match matches.subcommand() {
        Some(("completions", given)) => {
            Command::Completions(given.get_one("shell").copied().unwrap_or(Shell::Bash))
        }
        Some(("show", given)) => Command::Show(show_line(given)),
        Some(("explain", given)) => Command::Explain(given.get_one("topic").cloned()),
        Some(("man", given)) => Command::Man(given.get_one("command").cloned()),
        Some((name, given)) => match SUBCOMMANDS.iter().find(|it| it.verb.name() == name) {
            Some(it) => Command::Do(Box::new(line(it, given))),
            None => Command::Engines,
        },
        None => Command::Engines,
    })
}

/// The options in the order of the table.
fn line(it: &Subcommand, matches: &ArgMatches) -> CommandLine {
    let mut request = Request::new(it.verb);
    for row in rows(it.verb) {
        if matches!(row.value, Value::Flag) {
            if matches.get_flag(row.name) {
                request.give(row, OsString::new());
            }
            continue;
        }
        for value in matches.get_raw(row.name).into_iter().flatten() {
            request.give(row, value.to_os_string());
        }
    }
    let file = |number: usize| matches.get_one::<PathBuf>(it.files.get(number)?.0).cloned();
    CommandLine { request, file: file(0).unwrap_or_default(), second: file(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn short_help_fits_one_screen() {
        let mut command = with_short_help(command().term_width(80));
        command.build();
        let mut pages = vec![("preempt".to_string(), command.render_help().to_string())];
        for sub in command.get_subcommands_mut() {
            pages.push((sub.get_name().to_string(), sub.render_help().to_string()));
        }
        for (name, page) in pages {
            assert!(page.lines().count() <= 24, "{name}: {} lines\n{page}", page.lines().count());
            assert!(page.lines().all(|line| line.chars().count() <= 80), "{name}:\n{page}");
        }
    }

    /// Every option has its place in the long help, under its heading.
    #[test]
    fn long_help_has_every_option() {
        let mut command = command();
        command.build();
        for verb in Verb::ALL {
            let page = command.find_subcommand_mut(verb.name()).map(|it| it.render_long_help().to_string());
            let page = page.expect("every verb is a subcommand");
            for row in rows(verb) {
                assert!(
                    page.contains(&row.flag()) && page.contains(row.group.title()),
                    "{}: {page}",
                    row.name
                );
                assert!(!row.details.is_empty() && row.details.ends_with('.'), "{}", row.name);
            }
        }
    }
}
