//! What tests of the command share: a folder for files, small models, and processes that do not end by themselves.
#![allow(dead_code, reason = "every test uses a part")]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Two counters, 2^64 states: whatever visits them needs a limit.
pub const ENDLESS: &str = "int x, y;
active proctype A() { do :: x++ :: x = 0 od }
active proctype B() { do :: y++ :: y = 0 od }
";

/// Fails at once.
pub const BROKEN: &str = "byte x;
active proctype P() { x = 1; assert(x == 2) }
";

/// A net whose basis grows by steps of four up to 2^32.
pub const GROWING_NET: &str = "vars
 a
rules
 a >= 1 -> a' = a+4;
init
 a = 1
target
 a >= 4294967295
";

/// Multiplication of 32 bits as a decision diagram.
pub const SQUARE: &str = "int x, y;
active proctype A() { y = x * x; assert(y != 49) }
active proctype B() { do :: x++ od }
";

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preempt"));
    command.args(arguments).env("NO_COLOR", "1").env("COLUMNS", "80");
    command
}

pub fn preempt(arguments: &[&str]) -> Output {
    command(arguments).stdin(Stdio::null()).output().expect("the command starts")
}

/// A folder of this test's own, empty.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for files");
    folder
}

/// The path of a file with this text.
pub fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file can be written");
    path.to_str().expect("a name in Unicode").to_string()
}

pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Asks about all cases side by side: most of the time they wait. A panic of one is a panic of all.
pub fn each<T: Sync>(cases: &[T], ask: impl Fn(&T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| ask(case));
        }
    });
}

/// What became of a process.
#[derive(Debug)]
pub struct Ended {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub time: Duration,
    /// The most memory that it was seen with.
    pub peak: u64,
}

/// Reads to the end, in a thread of its own.
fn drained(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the end, and looks at the memory meanwhile. A process that does not end within a minute is killed.
pub fn wait(mut child: Child) -> Ended {
    let since = Instant::now();
    let mut peak = 0;
    // What is printed is read all the time: a full pipe would hold the process up.
    let stdout = child.stdout.take().map(drained);
    let stderr = child.stderr.take().map(drained);
    let status = format!("/proc/{}/status", child.id());
    while child.try_wait().expect("a child").is_none() {
        peak =
            peak.max(std::fs::read_to_string(&status).ok().and_then(|text| high_water(&text)).unwrap_or(0));
        if since.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let time = since.elapsed();
    let text = |reader: Option<JoinHandle<String>>| {
        reader.map(|reader| reader.join().expect("a reader")).unwrap_or_default()
    };
    Ended {
        status: child.wait().expect("it has ended").code(),
        stdout: text(stdout),
        stderr: text(stderr),
        time,
        peak,
    }
}

fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
