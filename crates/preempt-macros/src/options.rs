//! The options: `name = value`, or a name alone for what is on or off, with commas between them.

use crate::Problem;
use proc_macro::{Span, TokenStream, TokenTree};

/// Each is a method of `preempt::Checker`, given the value in this form.
const OPTIONS: [(&str, &str); 14] = [
    ("max_preemptions", "max_preemptions(::core::option::Option::Some({}))"),
    ("max_executions", "max_executions({})"),
    ("max_seconds", "max_duration(::core::time::Duration::from_secs({}))"),
    ("max_steps", "max_steps({})"),
    ("give_up_long_runs", "give_up_long_runs({})"),
    ("fair_bound", "fair_bound(::core::option::Option::Some({}))"),
    ("spurious", "spurious({})"),
    ("threads", "threads({})"),
    ("strategy", "strategy({})"),
    ("check_leaks", "check_leaks({})"),
    ("check_determinism", "check_determinism({})"),
    ("watchdog", "watchdog(::core::option::Option::Some(::core::time::Duration::from_secs({})))"),
    ("report_html", "report_html({})"),
    ("replay", "replay({})"),
];

/// The expression for a checker with these options.
pub fn checker(options: TokenStream) -> Result<String, Problem> {
    let mut checker = "::preempt::Checker::new()".to_string();
    let mut seen: Vec<String> = Vec::new();
    for option in split_at_commas(options) {
        let mut tokens = option.into_iter();
        let (name, span) = match tokens.next() {
            Some(TokenTree::Ident(name)) => (name.to_string(), name.span()),
            Some(other) => return Err(unknown(&other.to_string(), other.span())),
            None => continue,
        };
        let Some((_, method)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
            return Err(unknown(&name, span));
        };
        if seen.contains(&name) {
            return Err(Problem::new(span, format!("`{name}` was given before")));
        }
        let value = match tokens.next() {
            Some(TokenTree::Punct(sign)) if sign.as_char() == '=' => {
                tokens.collect::<TokenStream>().to_string()
            }
            None if matches!(&*name, "check_leaks" | "give_up_long_runs") => "true".to_string(),
            _ => String::new(),
        };
        if value.is_empty() {
            return Err(Problem::new(span, format!("`{name}` needs a value: `{name} = ...`")));
        }
        checker.push_str(&format!(".{}", method.replace("{}", &value)));
        seen.push(name);
    }
    Ok(checker)
}

fn unknown(name: &str, span: Span) -> Problem {
    let known: Vec<&str> = OPTIONS.iter().map(|(name, _)| *name).collect();
    Problem::new(span, format!("there is no option `{name}`; there are {}", known.join(", ")))
}

fn split_at_commas(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in tokens {
        match &token {
            TokenTree::Punct(sign) if sign.as_char() == ',' => parts.push(Vec::new()),
            _ => {
                if let Some(last) = parts.last_mut() {
                    last.push(token);
                }
            }
        }
    }
    parts
}
