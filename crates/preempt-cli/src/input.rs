//! From what was typed to a text: the file, its kind, and what is wrong with it.

use crate::console::Failure;
use crate::job;
use preempt_core::diagnostic::nearest;
use preempt_workbench::{FRONT_ENDS, FrontEnd};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Places in a text are 32-bit numbers, and nobody wrote a model of this size by hand.
const LARGEST: u64 = 256 << 20;

/// After so many bytes it is asked whether to go on.
const PIECE: u64 = 1 << 20;

#[derive(Debug)]
pub struct Source {
    /// As the user wrote it.
    pub name: String,
    pub text: String,
    pub front_end: &'static FrontEnd,
}

/// A second file, whatever it is called.
pub fn text_of(path: &Path) -> Result<String, Failure> {
    read_file(path).map_err(|failure| if path.is_dir() { failure } else { suggest(failure, path) })
}

/// The input, read as the kind that its name says unless something else is said.
pub fn read(path: &Path, kind: Option<&str>) -> Result<Source, Failure> {
    let is_stdin = path.as_os_str() == "-";
    let name = if is_stdin { "<stdin>".to_string() } else { path.display().to_string() };
    let text = if is_stdin {
        read_all(io::stdin().lock(), "stdin")?
    } else {
        read_file(path).map_err(|failure| suggest(failure, path))?
    };
    // After reading: that a file is missing matters more than what it is called.
    let front_end = match kind {
        Some(name) => FrontEnd::find(name),
        None => FrontEnd::of_path(path),
    };
    let Some(front_end) = front_end else { return Err(unknown_kind(path)) };
    if text.trim().is_empty() {
        return Err(Failure::new(format!("{} is empty", quoted(&name))));
    }
    Ok(Source { name, text, front_end })
}

/// A file that a model includes; the front end has already joined its name to that of the including file, and names it when
/// it tells why it cannot be read.
pub fn read_include(name: &str) -> Result<String, String> {
    let named = format!("cannot read {}: ", quoted(name));
    read_file(Path::new(name)).map_err(|failure| match failure.message.strip_prefix(&named) {
        Some(reason) => reason.to_string(),
        None => failure.message,
    })
}

fn read_file(path: &Path) -> Result<String, Failure> {
    let name = quoted(&path.display().to_string());
    if path.is_dir() {
        return Err(Failure::new(format!("{name} is a directory")));
    }
    let file =
        File::open(path).map_err(|error| Failure::new(format!("cannot read {name}: {}", reason(&error))))?;
    read_all(file, &name)
}

fn read_all(from: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let mut from = from.take(LARGEST + 1);
    loop {
        let piece = (&mut from).take(PIECE).read_to_end(&mut bytes);
        let piece = piece.map_err(|error| Failure::new(format!("cannot read {name}: {}", reason(&error))))?;
        job::check()?;
        if piece == 0 {
            break;
        }
    }
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::new(format!("{name} is larger than {} MiB", LARGEST >> 20)));
    }
    // Old models are in other encodings: what is not UTF-8 is taken for Latin-1.
    Ok(preempt_workbench::frontend::decode(&bytes))
}

/// Without the number of the operating system's error, which says nothing to people.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

/// For a directory a model in it; for a missing file one with a similar name.
fn suggest(failure: Failure, path: &Path) -> Failure {
    if path.is_dir() {
        let is_model = |name: &String| {
            let name = Path::new(name);
            name.extension().is_some() && FrontEnd::of_path(name).is_some()
        };
        let hint = match names_in(path).into_iter().find(is_model) {
            Some(model) => {
                format!("name one model, for example {}", quoted(&path.join(model).display().to_string()))
            }
            None => "name one model file".into(),
        };
        return failure.hint(hint);
    }
    if path.exists() {
        return failure;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = names_in(folder);
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    match nearest(&wanted, names.iter().map(String::as_str)) {
        Some(name) => failure
            .hint(format!("did you mean {}?", quoted(&path.with_file_name(name).display().to_string()))),
        None => failure,
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .take(10_000)
        .collect();
    names.sort();
    names
}

fn unknown_kind(path: &Path) -> Failure {
    let known: Vec<String> = FRONT_ENDS
        .iter()
        .map(|front_end| {
            let extensions: Vec<String> =
                front_end.extensions.iter().map(|name| format!(".{name}")).collect();
            format!("{} ({})", front_end.title, extensions.join(" "))
        })
        .collect();
    let name = quoted(&path.display().to_string());
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    Failure::new(format!("{name}: unknown extension .{extension}"))
        .hint(format!("known are {}; or say what it is, as in --input promela", known.join(", ")))
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}
