//! The tokens that are still to be looked at.

use std::rc::Rc;

use crate::token::{Punct, Token};

/// Where tokens come from: expansions that are still to be rescanned, then the file.
pub struct Feed<'t> {
    pub(super) frames: Vec<Frame>,
    pub(super) file: &'t [Token],
    pub(super) pos: usize,
    /// The next token of the file starts a line because a call before it spanned lines.
    pub(super) line_break: bool,
}

pub(super) struct Frame {
    pub(super) tokens: std::vec::IntoIter<Token>,
    /// Counts as being expanded until the frame is used up.
    pub(super) expanding: Option<Rc<str>>,
}

impl<'t> Feed<'t> {
    pub fn of_file(file: &'t [Token]) -> Feed<'t> {
        Feed { frames: Vec::new(), file, pos: 0, line_break: false }
    }

    pub(super) fn of_tokens(tokens: Vec<Token>) -> Feed<'static> {
        let frame = Frame { tokens: tokens.into_iter(), expanding: None };
        Feed { frames: vec![frame], file: &[], pos: 0, line_break: false }
    }

    pub fn file_token(&mut self) -> Option<Token> {
        let mut token = self.file.get(self.pos)?.clone();
        self.pos += 1;
        token.newline |= std::mem::take(&mut self.line_break);
        Some(token)
    }

    pub fn rest_of_line(&mut self) -> &'t [Token] {
        let rest = &self.file[self.pos..];
        let length = rest.iter().position(|token| token.newline).unwrap_or(rest.len());
        self.pos += length;
        &rest[..length]
    }

    /// A token of an expansion, and whether there is one; used-up frames end their macros.
    pub(super) fn frame_token(&mut self, active: &mut Vec<Rc<str>>) -> Option<Token> {
        while let Some(frame) = self.frames.last_mut() {
            if let Some(token) = frame.tokens.next() {
                return Some(token);
            }
            if let Some(name) = self.frames.pop().and_then(|frame| frame.expanding)
                && let Some(at) = active.iter().rposition(|n| *n == name)
            {
                active.remove(at);
            }
        }
        None
    }

    pub(super) fn token(&mut self, active: &mut Vec<Rc<str>>) -> Option<Token> {
        self.frame_token(active).or_else(|| {
            let next = self.file.get(self.pos)?;
            if next.newline && next.is(Punct::Hash) { None } else { self.file_token() }
        })
    }

    pub(super) fn next_is_parenthesis(&self) -> bool {
        let in_frames = self.frames.iter().rev().find_map(|frame| frame.tokens.as_slice().first());
        in_frames.or(self.file.get(self.pos)).is_some_and(|token| token.is(Punct::LParen))
    }
}
