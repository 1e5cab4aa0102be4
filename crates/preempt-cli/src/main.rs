//! The `preempt` command.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    preempt_cli::main(std::env::args_os()).into()
}
