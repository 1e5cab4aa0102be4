//! Schedules as short strings: who moves when, with repeated steps counted. `0x5.1x3.0` is five steps of thread 0,
//! three of thread 1 and one of thread 0; `1!` is a step of thread 1 that happens spuriously. `~1f` at the end is what random
//! numbers begin with, in hexadecimal digits, if the run has used any; `~=1f,3` are the numbers themselves, if a scheduler of the
//! user's gave them.

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

/// What a schedule says of random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Randomness {
    /// They begin with this.
    Seed(u64),
    /// They are these.
    Numbers(Vec<u64>),
}

impl Randomness {
    /// Behind the schedule.
    pub fn encode(&self) -> String {
        match self {
            Randomness::Seed(seed) => format!("~{seed:x}"),
            Randomness::Numbers(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:x}")).collect();
                format!("~={}", numbers.join(","))
            }
        }
    }
}

/// A schedule and its random numbers, if it has any.
pub(crate) fn decode_with_randomness(text: &str) -> Result<(Vec<Move>, Option<Randomness>), String> {
    let (schedule, random) =
        text.trim().split_once('~').map_or((text, None), |(text, random)| (text, Some(random)));
    let number = |text: &str| {
        // Rust's own numbers may have a sign.
        let digits = text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|_| digits);
        number.ok_or_else(|| format!("not a schedule: `~{text}` is no hexadecimal number"))
    };
    let randomness = random.map(|random| match random.strip_prefix('=') {
        Some(numbers) => numbers.split(',').map(number).collect::<Result<_, _>>().map(Randomness::Numbers),
        None => number(random).map(Randomness::Seed),
    });
    Ok((decode(schedule)?, randomness.transpose()?))
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
        for randomness in
            [Randomness::Seed(255), Randomness::Numbers(vec![1]), Randomness::Numbers(vec![31, 0])]
        {
            let text = format!("p1:0.1{}", randomness.encode());
            let expected = (vec![0.into(), 1.into()], Some(randomness));
            assert_eq!(decode_with_randomness(&text), Ok(expected), "{text}");
        }
        assert_eq!(decode_with_randomness(" p1:0 "), Ok((vec![0.into()], None)));
        for text in [
            "p1:0~",
            "p1:0~x",
            "p1:~-1",
            "p1:~+1",
            "p1:0~10000000000000000",
            "p1:0~=",
            "p1:0~=1,",
            "p1:0~1,2",
        ] {
            assert!(decode_with_randomness(text).is_err(), "{text}");
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
