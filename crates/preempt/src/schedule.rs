//! Schedules as short strings: who moves when, with repeated steps counted. `0x5.1x3.0` is five steps of thread 0,
//! three of thread 1 and one of thread 0.

/// The version of the format, so that an old string is not misread.
const PREFIX: &str = "p1:";

pub(crate) fn encode(schedule: &[usize]) -> String {
    let mut text = String::from(PREFIX);
    let mut blocks = schedule.chunk_by(|a, b| a == b).peekable();
    while let Some(block) = blocks.next() {
        text.push_str(&block[0].to_string());
        if block.len() > 1 {
            text.push_str(&format!("x{}", block.len()));
        }
        if blocks.peek().is_some() {
            text.push('.');
        }
    }
    text
}

pub(crate) fn decode(text: &str) -> Result<Vec<usize>, String> {
    let wrong = |what: &str| format!("not a schedule: {what} (a schedule looks like `{PREFIX}0x5.1x3.0`)");
    let blocks =
        text.trim().strip_prefix(PREFIX).ok_or_else(|| wrong("it does not begin with its version"))?;
    let mut schedule = Vec::new();
    for block in blocks.split('.').filter(|block| !block.is_empty()) {
        let (thread, times) = block.split_once('x').unwrap_or((block, "1"));
        let number = |text: &str| text.parse::<u32>().map_err(|_| wrong(&format!("`{block}`")));
        let (thread, times) = (number(thread)?, number(times)?);
        if times > 10_000_000 {
            return Err(wrong(&format!("`{block}` is too long")));
        }
        schedule.extend(std::iter::repeat_n(thread as usize, times as usize));
    }
    Ok(schedule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_survive() {
        for schedule in [vec![], vec![0], vec![0, 0, 1, 0, 12, 12, 12]] {
            assert_eq!(decode(&encode(&schedule)), Ok(schedule));
        }
        assert_eq!(encode(&[0, 0, 1]), "p1:0x2.1");
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for text in ["", "0x5", "p1:a", "p1:1x", "p1:0x99999999999", "p1:0x4000000000"] {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
