//! The text of the program under test, to call things by the names that it has for them.
//!
//! A step knows its place: file, line and column of the method that was called. If the file can be found, what stands before
//! the dot is how the test calls the object. Nothing is parsed but that expression, backward from the dot, and nothing depends
//! on finding it: without the text objects are numbered.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// Longer expressions are no names.
const LONGEST: usize = 40;

/// Files that were read, or that cannot be.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    files: HashMap<String, Option<Rc<str>>>,
}

impl Sources {
    /// The file as the compiler has named it, relative to the directory of the package or to one above it.
    pub fn read(&mut self, file: &str) -> Option<Rc<str>> {
        let known = self.files.entry(file.to_string()).or_insert_with(|| {
            let here = std::env::current_dir().ok()?;
            let found = here.ancestors().map(|directory| directory.join(file)).find(|path| path.is_file())?;
            Some(std::fs::read_to_string(found).ok()?.into())
        });
        known.clone()
    }

    /// What the method at this place is called on, as the test has it: `self.head` of `self.head.load(..)`.
    pub fn receiver(&mut self, file: &str, line: u32, column: u32) -> Option<String> {
        if is_own(file) {
            return None;
        }
        let text = self.read(file)?;
        let at = offset(&text, line, column)?;
        let receiver: String = text[receiver_before(&text, at)?].split_whitespace().collect();
        // `self.0` would be left with a number for a name.
        let field =
            receiver.strip_prefix("self.").filter(|field| !field.starts_with(|c: char| c.is_ascii_digit()));
        let receiver = field.unwrap_or(&receiver);
        (!receiver.is_empty() && receiver.len() <= LONGEST).then(|| receiver.to_string())
    }

    /// What is tested by the call at this place: its first argument that is a closure, or the first of all (a name); or the function
    /// under an attribute.
    pub fn tested(&mut self, file: &str, line: u32, column: u32) -> Option<String> {
        let text = self.read(file)?;
        let at = offset(&text, line, column)?;
        if text[at..].starts_with('#') {
            return called(&text[at..]);
        }
        let open = at + text[at..].find('(')?;
        let mut arguments = Vec::new();
        let mut before = open;
        while let Some(end) = end_of_argument(&text, before) {
            arguments.push(text[before + 1..end].trim());
            if !text[end..].starts_with(',') {
                break;
            }
            before = end;
        }
        let is_closure = |argument: &&&str| argument.trim_start_matches("move").trim_start().starts_with('|');
        let tested = arguments.iter().find(is_closure).or(arguments.first()).filter(|it| !it.is_empty());
        tested.map(|it| it.to_string())
    }
}

/// What calls the function behind an attribute in every schedule: its name, if that is enough.
fn called(text: &str) -> Option<String> {
    let (before, behind) = text.split_once("fn ")?;
    let end = behind.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    let (name, signature) = (&behind[..end], behind[end..].split('{').next()?);
    let is_async = before.split_whitespace().next_back() == Some("async");
    let call = if is_async { format!("preempt::future::block_on({name}())") } else { format!("{name}()") };
    Some(match (is_async, signature.contains("->")) {
        (false, false) => name.to_string(),
        (true, false) => format!("|| {call}"),
        (_, true) => format!("|| {call}.unwrap()"),
    })
}

/// Is it a file of this crate's? What objects are called there is nobody's business.
pub(crate) fn is_own(file: &str) -> bool {
    let here = Path::new(file!()).parent();
    here.is_some_and(|here| Path::new(file).starts_with(here))
}

/// Of a place, with lines and columns from 1, columns in characters.
fn offset(text: &str, line: u32, column: u32) -> Option<usize> {
    let start = match line {
        0 => return None,
        1 => 0,
        line => text.match_indices('\n').nth(line as usize - 2)?.0 + 1,
    };
    let rest = text.get(start..)?;
    let within = rest.char_indices().nth(column.checked_sub(1)? as usize)?.0;
    Some(start + within)
}

/// The expression before the dot that stands before `at`: names, fields, indices and calls.
fn receiver_before(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let skip_space = |mut end: usize| {
        while end > 0 && bytes[end - 1].is_ascii_whitespace() {
            end -= 1;
        }
        end
    };
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    // A dot follows what it belongs to, if need be on a line of its own; nothing stands between it and the next name.
    let end = skip_space(text[..at].strip_suffix('.')?.len());
    let mut start = end;
    loop {
        // One piece: a name with what is behind it in brackets.
        while start > 0 && matches!(bytes[start - 1], b')' | b']') {
            start = opening(bytes, start - 1)?;
        }
        let named = start;
        while start > 0 && word(bytes[start - 1]) {
            start -= 1;
        }
        if start == named && start == end {
            return None;
        }
        if text[..start].ends_with('.') {
            start = skip_space(start - 1);
        } else if text[..start].ends_with("::") {
            start -= 2;
        } else {
            return Some(start..end);
        }
    }
}

/// Where the bracket was opened that is closed here. Strings with brackets in them are not expected in a name.
fn opening(bytes: &[u8], close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for at in (0..=close).rev() {
        match bytes[at] {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Where the argument ends that stands behind this bracket or comma: at the next comma, or where the bracket is closed. Comments, strings and characters
/// are passed over.
fn end_of_argument(text: &str, open: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = if text[open..].starts_with(',') { (open + 1, 1usize) } else { (open, 0) };
    while at < bytes.len() {
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n')?;
        } else if rest.starts_with("/*") {
            at += rest.find("*/")? + 1;
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = rest.find('"')? + 1;
            at += begin + rest[begin..].find(&end)? + end.len() - 1;
        } else {
            match bytes[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                b',' if depth == 1 => return Some(at),
                b'"' => at = end_of_quote(bytes, at)?,
                // A character, and not a lifetime.
                b'\'' if rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'') => {
                    at = end_of_quote(bytes, at)?;
                }
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        at += 1;
        while at < bytes.len() && !text.is_char_boundary(at) {
            at += 1;
        }
    }
    None
}

/// The number of hash signs, if a raw string begins here.
fn raw_string(rest: &str) -> Option<usize> {
    let behind = rest.strip_prefix('r')?;
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    behind[hashes..].starts_with('"').then_some(hashes)
}

/// Where the quote ends that begins here.
fn end_of_quote(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while *bytes.get(at)? != bytes[start] {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_under_an_attribute_are_called_as_they_must_be() {
        let calls = |text: &str| called(text).unwrap();
        assert_eq!(calls("#[preempt::test]\nfn a() { b() }"), "a");
        assert_eq!(calls("#[preempt::test]\nfn a() -> Result<(), E> {"), "|| a().unwrap()");
        assert_eq!(calls("#[preempt::test]\nasync fn a() {"), "|| preempt::future::block_on(a())");
        assert_eq!(calls("#[x]\npub async fn a() -> R {"), "|| preempt::future::block_on(a()).unwrap()");
    }

    fn receiver(text: &str) -> Option<&str> {
        let at = text.find("load").unwrap();
        receiver_before(text, at).map(|range| &text[range])
    }

    #[test]
    fn receivers_are_what_stands_before_the_dot() {
        assert_eq!(receiver("let x = counter.load(SeqCst);"), Some("counter"));
        assert_eq!(receiver("if !self.slots[head % SIZE].load(SeqCst)"), Some("self.slots[head % SIZE]"));
        assert_eq!(receiver("f(&shared.flag\n    .load(SeqCst))"), Some("shared.flag"));
        assert_eq!(receiver("a + list.get(i, (1, 2)).load(x)"), Some("list.get(i, (1, 2))"));
        assert_eq!(receiver("Self::QUEUE.head.load(x)"), Some("Self::QUEUE.head"));
        assert_eq!(receiver("pair.0.load(x)"), Some("pair.0"));
        assert_eq!(receiver("// See above.\n    flag.load(x)"), Some("flag"));
        assert_eq!(receiver("thread::load(x)"), None);
        assert_eq!(receiver("load(x)"), None);
        assert_eq!(receiver("}.load(x)"), None);
        assert_eq!(receiver(")).load(x)"), None);
    }

    #[test]
    fn arguments_end_with_their_bracket() {
        let text = r##"check(|| { let s = "a) \"b"; let c = ')'; let l: &'static str = r#"(""#; /* ( */ f(s) }); g()"##;
        let close = end_of_argument(text, 5).unwrap();
        assert!(text[..=close].ends_with("f(s) })"), "{}", &text[..=close]);
        assert_eq!(end_of_argument("(f(a, b), 7)", 0), Some(8), "others come behind a comma");
        assert_eq!(end_of_argument("(f(a, b), 7)", 8), Some(11), "the bracket is closed behind the second");
        assert_eq!(end_of_argument("(a", 0), None);
        assert_eq!(end_of_argument("('", 0), None);
    }

    #[test]
    fn places_are_counted_from_one() {
        let text = "ab\ncäd\n";
        assert_eq!(offset(text, 1, 1), Some(0));
        assert_eq!(offset(text, 2, 3), Some(3 + 1 + 'ä'.len_utf8()));
        assert_eq!(offset(text, 0, 1), None);
        assert_eq!(offset(text, 9, 1), None);
    }
}
