//! A function that stands under the attribute, taken apart as far as it matters.

use crate::Problem;
use proc_macro::{Delimiter, Ident, Span, TokenStream, TokenTree};

/// The function, and where its attributes belong.
pub struct Function {
    pub name: Ident,
    pub is_async: bool,
    /// All of it, without the attributes below.
    pub itself: TokenStream,
    /// `#[should_panic]` and `#[ignore]`: what the harness of tests reads.
    pub of_test: TokenStream,
    /// `#[cfg(..)]`: without the one there is no other.
    pub of_both: TokenStream,
}

/// Reads attributes, what stands before `fn`, the name, and that there are no parameters.
pub fn take_apart(item: TokenStream) -> Result<Function, Problem> {
    let wrong = |span, message: &str| Err(Problem::new(span, message));
    let (mut of_test, mut of_both) = (TokenStream::new(), TokenStream::new());
    let mut itself: Vec<TokenTree> = Vec::new();
    let mut tokens = item.into_iter().peekable();
    let mut is_async = false;
    let name = loop {
        let Some(token) = tokens.next() else {
            return wrong(Span::call_site(), "#[preempt::test] stands before a function");
        };
        match &token {
            TokenTree::Punct(sign) if sign.as_char() == '#' => {
                let Some(group) = tokens.next() else { continue };
                let attribute: TokenStream = [token, group.clone()].into_iter().collect();
                match first_word(&group).as_deref() {
                    Some("should_panic" | "ignore") => of_test.extend(attribute),
                    Some("cfg") => of_both.extend(attribute),
                    Some("test") => {
                        return wrong(group.span(), "#[preempt::test] makes a test: leave #[test] out");
                    }
                    _ => itself.extend(attribute),
                }
            }
            TokenTree::Ident(word) if word.to_string() == "fn" => {
                itself.push(token);
                match tokens.next() {
                    Some(TokenTree::Ident(name)) => break name,
                    _ => return wrong(Span::call_site(), "a function with a name is expected"),
                }
            }
            TokenTree::Ident(word) => {
                match word.to_string().as_str() {
                    "async" => is_async = true,
                    "pub" | "crate" | "super" | "const" | "unsafe" => {}
                    _ => return wrong(word.span(), "#[preempt::test] stands before a function"),
                }
                itself.push(token);
            }
            _ => itself.push(token),
        }
    };
    itself.push(TokenTree::Ident(name.clone()));
    match tokens.peek() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            if !group.stream().is_empty() {
                return wrong(group.span(), "a test of every schedule has no parameters");
            }
        }
        Some(other) => return wrong(other.span(), "a test of every schedule has no type parameters"),
        None => return wrong(name.span(), "a function with a body is expected"),
    }
    itself.extend(tokens);
    Ok(Function { name, is_async, itself: itself.into_iter().collect(), of_test, of_both })
}

/// Of `[name ...]`.
fn first_word(group: &TokenTree) -> Option<String> {
    let TokenTree::Group(group) = group else { return None };
    match group.stream().into_iter().next() {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    }
}
