//! Schedules as short strings: who moves when, with repeated steps counted. `0x5.1x3.0` is five steps of thread 0,
//! three of thread 1 and one of thread 0; `1!` is a step of thread 1 that happens spuriously. `~1f` at the end is what random
//! numbers begin with, in hexadecimal digits, if the run has used any.

use preempt_stateless::Move;

/// The version of the format, so that an old string is not misread.
const PREFIX: &str = "p1:";

/// In steps. A short string can say many, and they are kept one by one.
const LONGEST: usize = 10_000_000;

pub(crate) fn encode(schedule: &[Move]) -> String {
    let block = |block: &[Move]| {
        let Move { thread, choice } = block[0];
        let (mark, times) = (if choice == 0 { "" } else { "!" }, block.len());
        if times > 1 { format!("{thread}{mark}x{times}") } else { format!("{thread}{mark}") }
    };
    let blocks: Vec<String> = schedule.chunk_by(|a, b| a == b).map(block).collect();
    format!("{PREFIX}{}", blocks.join("."))
}

/// A schedule and what its random numbers begin with.
pub(crate) fn decode_with_seed(text: &str) -> Result<(Vec<Move>, Option<u64>), String> {
    let (schedule, seed) =
        text.trim().split_once('~').map_or((text, None), |(text, seed)| (text, Some(seed)));
    let number = |seed: &str| u64::from_str_radix(seed, 16).map_err(|_| format!("not a schedule: `~{seed}`"));
    Ok((decode(schedule)?, seed.map(number).transpose()?))
}

pub(crate) fn decode(text: &str) -> Result<Vec<Move>, String> {
    let wrong = |what: &str| format!("not a schedule: {what} (a schedule looks like `{PREFIX}0x5.1x3.0`)");
    let blocks =
        text.trim().strip_prefix(PREFIX).ok_or_else(|| wrong("it does not begin with its version"))?;
    let mut schedule = Vec::new();
    for block in blocks.split('.').filter(|block| !block.is_empty()) {
        let (thread, times) = block.split_once('x').unwrap_or((block, "1"));
        let number = |text: &str| text.parse::<u32>().map_err(|_| wrong(&format!("`{block}`")));
        let (thread, choice) = thread.strip_suffix('!').map_or((thread, 0), |thread| (thread, 1));
        let (thread, times) = (number(thread)?, number(times)?);
        if times as usize > LONGEST - schedule.len() {
            return Err(wrong(&format!("with `{block}` it has more than {LONGEST} steps")));
        }
        schedule.extend(std::iter::repeat_n(Move { thread: thread as usize, choice }, times as usize));
    }
    Ok(schedule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_survive() {
        for threads in [vec![], vec![0], vec![0, 0, 1, 0, 12, 12, 12]] {
            let schedule: Vec<Move> = threads.into_iter().map(Move::from).collect();
            assert_eq!(decode(&encode(&schedule)), Ok(schedule));
        }
        let other = Move { thread: 1, choice: 1 };
        let schedule = [0.into(), 0.into(), 1.into(), other, other, 0.into()];
        assert_eq!(encode(&schedule), "p1:0x2.1.1!x2.0");
        assert_eq!(decode("p1:0x2.1.1!x2.0"), Ok(schedule.to_vec()));
    }

    #[test]
    fn what_random_numbers_begin_with_survives() {
        assert_eq!(decode_with_seed("p1:0.1~ff"), Ok((vec![0.into(), 1.into()], Some(255))));
        assert_eq!(decode_with_seed(" p1:0 "), Ok((vec![0.into()], None)));
        for text in ["p1:0~", "p1:0~x", "p1:~-1", "p1:0~10000000000000000"] {
            assert!(decode_with_seed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for text in ["", "0x5", "p1:a", "p1:1x", "p1:0x99999999999", "p1:0x4000000000", "p1:!", "p1:1!!"] {
            assert!(decode(text).is_err(), "{text}");
        }
        let half = format!("{PREFIX}0x{}", LONGEST / 2);
        assert_eq!(decode(&format!("{half}.1x{}", LONGEST / 2)).map(|moves| moves.len()), Ok(LONGEST));
        assert!(decode(&format!("{half}.1x{}.0", LONGEST / 2)).is_err());
    }
}
