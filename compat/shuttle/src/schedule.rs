//! Schedules as data, and as the strings that shuttle writes.
//!
//! The first step is the beginning of the main task; then every beginning of a task is one, and every operation.

use crate::task::TaskId;

/// Who runs when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// What random numbers begin with.
    pub seed: u64,
    /// One after the other.
    pub steps: Vec<ScheduleStep>,
}

/// A step of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleStep {
    /// This task runs, to its next operation.
    Task(TaskId),
    /// The task that runs is given a random number.
    Random,
}

impl Schedule {
    /// Without steps.
    pub fn new(seed: u64) -> Schedule {
        Schedule { seed, steps: Vec::new() }
    }

    /// These tasks run.
    pub fn new_from_task_ids<T: Into<TaskId>>(seed: u64, task_ids: impl IntoIterator<Item = T>) -> Schedule {
        Schedule { seed, steps: task_ids.into_iter().map(|task| ScheduleStep::Task(task.into())).collect() }
    }

    /// One more step of this task.
    pub fn push_task(&mut self, task: TaskId) {
        self.steps.push(ScheduleStep::Task(task));
    }

    /// One more random number.
    pub fn push_random(&mut self) {
        self.steps.push(ScheduleStep::Random);
    }

    /// How many steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// shuttle's second format.
const VERSION: u8 = 0x91;

/// In steps, so that a short string cannot ask for much memory.
const LONGEST: u64 = 10_000_000;

/// A string of shuttle's: in hexadecimal digits, the version, the bits of a task's number, the number of steps and the seed (each in
/// bytes of 7 bits, lowest first, with a mark if there are more), and the steps in bits, lowest first: 0 and a task's number, or 1 for
/// a random number. `None` if it is none.
pub(crate) fn decode(text: &str) -> Option<Schedule> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let digit = |byte: u8| (byte as char).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
        _ => None,
    };
    let bytes: Vec<u8> = digits.chunks(2).map(byte).collect::<Option<_>>()?;
    let (&version, mut rest) = bytes.split_first()?;
    if version != VERSION {
        return None;
    }
    let (width, steps, seed) = (number(&mut rest)?, number(&mut rest)?, number(&mut rest)?);
    if steps > LONGEST || width > u64::from(usize::BITS) {
        return None;
    }
    let mut bits = rest.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 != 0));
    let mut schedule = Schedule::new(seed);
    for _ in 0..steps {
        if bits.next()? {
            schedule.push_random();
        } else {
            let mut task = 0;
            for bit in 0..width {
                task |= usize::from(bits.next()?) << bit;
            }
            schedule.push_task(TaskId::from(task));
        }
    }
    Some(schedule)
}

/// A number in bytes of 7 bits.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return None;
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
