//! Whoever starts the processes of this machine, and says what has become of them. Timely ends a process whose connection
//! breaks; here that becomes one message.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// With this status a process says that its connection to another one broke.
pub const LOST: i32 = 86;

/// The status of a process whose input is wrong, or who was refused; it has said so itself.
const REFUSED: i32 = 2;
/// The last status with a meaning of its own.
const LAST: i32 = 4;

const LOOK: Duration = Duration::from_millis(10);
/// If somebody has lost a connection, so long is waited for who was at the other end.
const CULPRIT: Duration = Duration::from_millis(500);
/// And so long for the others when the first has its answer.
const REST: Duration = Duration::from_secs(20);

/// A process of this machine.
#[derive(Debug)]
pub struct Started {
    number: usize,
    name: String,
    child: Child,
    /// Its end is the sign that nobody looks after the process any more.
    input: Option<ChildStdin>,
    ended: Option<ExitStatus>,
}

/// What has become of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The status of the first of them.
    Done(i32),
    /// Somebody died, or cannot be reached: who, and how.
    Died(String),
}

impl Started {
    /// Starts a process. Only the first says anything on stdout.
    pub fn new(number: usize, name: &str, mut command: Command) -> std::io::Result<Started> {
        command.stdin(Stdio::piped());
        if number != 0 {
            command.stdout(Stdio::null());
        }
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        Ok(Started { number, name: name.into(), child, input, ended: None })
    }

    /// The process's own number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn look(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    /// Somebody who died, and not because somebody else did.
    fn death(&self) -> Option<String> {
        let status = self.ended?;
        let (number, name) = (self.number, &self.name);
        match status.code() {
            Some(LOST) => None,
            Some(code) if (0..=LAST).contains(&code) => None,
            Some(code) => Some(format!("process {number} ({name}) has ended with status {code}")),
            None => Some(format!("process {number} ({name}) was killed{}", by_signal(status))),
        }
    }

    fn end(&mut self) {
        if self.look().is_none() {
            // It may have ended in the meantime.
            let _ = self.child.kill();
            self.ended = self.child.wait().ok();
        }
    }
}

#[cfg(unix)]
fn by_signal(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    status.signal().map(|signal| format!(" (signal {signal})")).unwrap_or_default()
}

#[cfg(not(unix))]
fn by_signal(_: ExitStatus) -> String {
    String::new()
}

/// Waits for them. When the user wants to end it, they are told.
pub fn supervise(mut all: Vec<Started>, is_interrupted: &dyn Fn() -> bool) -> Ended {
    let ended = watch(&mut all, is_interrupted);
    all.iter_mut().for_each(Started::end);
    ended
}

fn watch(all: &mut [Started], is_interrupted: &dyn Fn() -> bool) -> Ended {
    let mut is_told = false;
    let mut lost: Option<Instant> = None;
    let mut done: Option<Instant> = None;
    loop {
        if is_interrupted() && !std::mem::replace(&mut is_told, true) {
            // Whoever has ended cannot be told.
            all.iter_mut().filter_map(|it| it.input.as_mut()).for_each(|input| {
                let _ = input.write_all(b"!").and_then(|()| input.flush());
            });
        }
        let statuses: Vec<Option<i32>> =
            all.iter_mut().map(|it| it.look().map(|status| status.code().unwrap_or(-1))).collect();
        // Who has an answer needs nobody any more.
        let first = statuses.first().copied().flatten().filter(|status| (0..=LAST).contains(status));
        if let Some(first) = first {
            let is_late = done.get_or_insert_with(Instant::now).elapsed() >= REST;
            if is_late || first == REFUSED || statuses.iter().all(Option::is_some) {
                return Ended::Done(first);
            }
        } else if statuses.contains(&Some(REFUSED)) {
            return Ended::Done(REFUSED);
        } else if let Some(death) = all.iter().find_map(Started::death) {
            return Ended::Died(death);
        } else if statuses.contains(&Some(LOST)) && lost.get_or_insert_with(Instant::now).elapsed() >= CULPRIT
        {
            return Ended::Died("the connection to a process of another machine was lost".into());
        }
        std::thread::sleep(LOOK);
    }
}

/// In a process that is supervised: a broken connection ends it at once, without a word.
pub fn end_when_lost() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_timely = std::thread::current().name().is_some_and(|name| name.starts_with("timely:"));
        if is_timely {
            std::process::exit(LOST);
        }
        usual(panic);
    }));
}

/// In a process that is supervised: when the supervisor has something to say, or is gone.
pub fn listen(interrupt: impl Fn() + Send + 'static) {
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut word = [0];
        loop {
            match std::io::Read::read(&mut input, &mut word) {
                Ok(0) | Err(_) => std::process::exit(LOST),
                Ok(_) => interrupt(),
            }
        }
    });
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(number: usize, script: &str) -> Started {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::null());
        Started::new(number, "here", command).expect("a shell")
    }

    #[test]
    fn the_first_has_the_answer_and_a_death_is_told() {
        let never = || false;
        assert_eq!(supervise(vec![shell(0, "exit 1"), shell(1, "exit 0")], &never), Ended::Done(1));
        assert_eq!(supervise(vec![shell(0, "read x"), shell(1, "exit 2")], &never), Ended::Done(2));
        let died = supervise(vec![shell(0, "sleep 0.1; exit 86"), shell(1, "sleep 0.2; kill -9 $$")], &never);
        assert_eq!(died, Ended::Died("process 1 (here) was killed (signal 9)".into()));
        let lost = supervise(vec![shell(0, "exit 86"), shell(1, "read x")], &never);
        assert_eq!(lost, Ended::Died("the connection to a process of another machine was lost".into()));
        // Who is told to end, ends.
        assert_eq!(supervise(vec![shell(0, "head -c 1; exit 3")], &|| true), Ended::Done(3));
    }
}
