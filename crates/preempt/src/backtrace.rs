//! Where a panic of the program under test came from, if `RUST_BACKTRACE` is set: the user's own frames, without those
//! of std and of the search.

use crate::runtime::failure::RunFailure;
use std::backtrace::BacktraceStatus;

/// The frames of the panic, newest first.
pub(crate) fn of_user(failed: &RunFailure) -> Option<String> {
    let RunFailure::Panic { backtrace: Some(backtrace), .. } = failed else { return None };
    if backtrace.status() != BacktraceStatus::Captured {
        return None;
    }
    let text = backtrace.to_string();
    let mut frames: Vec<(&str, &str)> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((_, name)) = line.trim_start().split_once(": ") else { continue };
        let at = lines.next_if(|next| next.trim_start().starts_with("at "));
        frames.extend(at.map(|at| (name, at.trim_start().trim_start_matches("at "))));
    }
    // Names of frames depend on what is inlined, and paths on where the program was built: the hook's own frame shows
    // how ours begin. The bottom of a modelled thread is in `fibers.rs`.
    let ours = frames.iter().find_map(|(_, at)| Some(at.split_once("runtime/hook.rs")?.0))?;
    let bottom = format!("{ours}runtime/fibers.rs");
    let others = |at: &str| at.starts_with(ours) || at.contains("/rustc/") || at.contains("/registry/src/");
    let users = frames.iter().take_while(|(_, at)| !at.starts_with(&bottom)).filter(|(_, at)| !others(at));
    let kept: String = users
        .enumerate()
        .map(|(number, (name, at))| format!("  {number}: {name}\n       at {at}\n"))
        .collect();
    Some(kept).filter(|kept| !kept.is_empty())
}
