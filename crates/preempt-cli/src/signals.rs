//! Ctrl-C, SIGTERM and SIGHUP: the first asks everybody to end, the second ends the command at once.

use crate::files;
use crate::job::Job;

/// The status that shells give to a command that Ctrl-C ended.
pub const KILLED_BY_INTERRUPT: i32 = 130;

/// To be called before other threads begin, which inherit what is blocked here.
pub fn listen(job: &'static Job) {
    leave_hangups_ignored();
    // Without a handler a signal ends the command at once, as it would anyway the second time.
    let _ = ctrlc::set_handler(move || {
        if job.interrupt() {
            files::remove_temporaries();
            std::process::exit(KILLED_BY_INTERRUPT);
        }
    });
}

/// Under `nohup` a search is to go on when the terminal is closed. A handler would undo that, and blocking the signal keeps it.
#[cfg(target_os = "linux")]
fn leave_hangups_ignored() {
    use nix::sys::signal::{SigSet, Signal};
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    if ignored & (1 << (Signal::SIGHUP as u32 - 1)) != 0 {
        let mut hangup = SigSet::empty();
        hangup.add(Signal::SIGHUP);
        let _ = hangup.thread_block();
    }
}

#[cfg(not(target_os = "linux"))]
fn leave_hangups_ignored() {}
