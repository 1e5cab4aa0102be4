//! `#[preempt::test]`: a function that is run in every schedule.
//!
//! The function stays as it is, so that it can be called by its name; beside it stands a module of that name with one test,
//! `model`, so that `cargo test ::model` runs the model tests and nothing else. The crate `preempt` documents the options and
//! has the examples.
//!
//! The tokens are taken apart by hand: of a function only the attributes, the name and whether it is `async` matter, and a
//! parser of all Rust would take longer to build than everything else that a test needs.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod function;
mod options;

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// What is wrong with a use of the attribute, and where.
struct Problem {
    span: Span,
    message: String,
}

impl Problem {
    fn new(span: Span, message: impl Into<String>) -> Problem {
        Problem { span, message: message.into() }
    }

    /// `::core::compile_error! { "message" }`, so that the compiler shows it there.
    fn into_tokens(self) -> TokenStream {
        let colon = |spacing| TokenTree::from(Punct::new(':', spacing));
        let name = |text| TokenTree::from(Ident::new(text, self.span));
        let message = TokenTree::from(Literal::string(&self.message));
        let tokens = [
            colon(Spacing::Joint),
            colon(Spacing::Alone),
            name("core"),
            colon(Spacing::Joint),
            colon(Spacing::Alone),
            name("compile_error"),
            Punct::new('!', Spacing::Alone).into(),
            Group::new(Delimiter::Brace, message.into()).into(),
        ];
        let spanned = tokens.into_iter().map(|mut token| {
            token.set_span(self.span);
            token
        });
        spanned.collect()
    }
}

/// Makes the function a test of every schedule. See the documentation of `preempt::test`.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    expand(options, item).unwrap_or_else(Problem::into_tokens)
}

fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream, Problem> {
    let checker = options::checker(options)?;
    let function = function::take_apart(item)?;
    let name = function.name.to_string();
    let call = match function.is_async {
        true => format!("::preempt::future::block_on(super::{name}())"),
        false => format!("super::{name}()"),
    };
    // An error that it returns is a failure at the place of the attribute.
    let call = format!("|| ::preempt::TestResult::unwrap_test({call})");
    let test = format!("fn model() {{ ::preempt::__model_test({checker}, {call}) }}");
    let parsed = |text: &str| {
        text.parse::<TokenStream>().map_err(|error| Problem::new(Span::call_site(), error.to_string()))
    };
    let mut inner = parsed("#[::core::prelude::v1::test]")?;
    inner.extend(function.of_test);
    inner.extend(parsed(&test)?);
    let mut all = parsed("#[cfg(test)]")?;
    all.extend(function.of_both.clone());
    all.extend(function.itself);
    all.extend(parsed("#[cfg(test)]")?);
    all.extend(function.of_both);
    all.extend(parsed("#[allow(non_snake_case)] mod")?);
    all.extend([
        TokenTree::from(Ident::new(&name, Span::call_site())),
        TokenTree::from(Group::new(Delimiter::Brace, inner)),
    ]);
    Ok(all)
}
