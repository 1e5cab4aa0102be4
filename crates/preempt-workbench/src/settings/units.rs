//! Values as people write them: times, sizes, numbers, definitions.

use std::time::Duration;

/// `30s`, `5m`, `1h30m`, `500ms`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let explain = || format!("`{text}` is not a time such as 30s, 5m or 1h30m");
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, after) = leading_number(rest).ok_or_else(explain)?;
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let part = match unit {
            "ms" => Some(Duration::from_millis(number)),
            "s" => Some(Duration::from_secs(number)),
            "m" | "min" => number.checked_mul(60).map(Duration::from_secs),
            "h" => number.checked_mul(3600).map(Duration::from_secs),
            "d" => number.checked_mul(86400).map(Duration::from_secs),
            _ => return Err(explain()),
        };
        total = part
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| format!("`{text}` is too long a time"))?;
        rest = after;
    }
    if text.is_empty() { Err(explain()) } else { Ok(total) }
}

/// A bare number below this was meant in a larger unit: there is nothing to be done with a few bytes.
const FEWEST_BYTES: u64 = 1 << 16;

/// `2G`, `512M`, `64KiB`, in powers of 1024; a bare number is bytes.
pub fn bytes(text: &str) -> Result<u64, String> {
    let explain = || format!("`{text}` is not a size such as 512M or 2G");
    let (number, unit) = leading_number(text).ok_or_else(explain)?;
    let unit = unit.to_ascii_uppercase();
    let unit = unit.strip_suffix("IB").or(unit.strip_suffix('B')).unwrap_or(&unit);
    let factor: u64 = match unit {
        "" if (1..FEWEST_BYTES).contains(&number) => {
            return Err(format!("`{text}` would be {text} bytes: write {text}G or {text}M"));
        }
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        _ => return Err(explain()),
    };
    number.checked_mul(factor).ok_or_else(|| format!("`{text}` is more memory than there can be"))
}

/// `1000000`, `1_000_000`, `500k`, `10M`, in powers of 1000.
pub fn count(text: &str) -> Result<u64, String> {
    let explain = || format!("`{text}` is not a number such as 500000 or 10M");
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    let (number, unit) = leading_number(&plain).ok_or_else(explain)?;
    let factor: u64 = match unit {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return Err(explain()),
    };
    number.checked_mul(factor).ok_or_else(|| format!("`{text}` is too large"))
}

fn leading_number(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    Some((number.parse().ok()?, rest))
}

/// A number within bounds.
pub fn number(text: &str, least: u64, most: u64) -> Result<u64, String> {
    match text.parse::<i128>() {
        Ok(number) if (i128::from(least)..=i128::from(most)).contains(&number) => Ok(number as u64),
        Ok(number) => Err(format!("{number} is not in {least}..={most}")),
        Err(_) => Err(format!("`{text}` is not a number; one is written in digits, as in {}", least.max(2))),
    }
}

/// `NAME` or `NAME=VALUE`; without a value it is 1, as for a C compiler.
pub fn definition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(format!("`{name}` is not a name; write NAME or NAME=VALUE"));
    }
    Ok((name.to_string(), value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, milliseconds) in [
            ("30", 30_000),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("250ms", 250),
            ("1d", 86_400_000),
            ("0s", 0),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "s", "3x", "-1s", "1.5h", "m5", "5 m", "99999999999999999999s", "ü"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(duration("18446744073709551615d").is_err());
        assert!(duration("18446744073709551615s18446744073709551615s").is_err());
    }

    #[test]
    fn sizes_and_counts() {
        for (text, size) in [
            ("0", 0),
            ("100000", 100_000),
            ("64K", 65536),
            ("2g", 2 << 30),
            ("2GiB", 2 << 30),
            ("1MB", 1 << 20),
        ] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in ["", "G", "-1", "1X", "1.5G", "99999999T", "ß"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert_eq!(bytes("2"), Err("`2` would be 2 bytes: write 2G or 2M".into()));
        assert_eq!((count("10M"), count("1_000"), count("7")), (Ok(10_000_000), Ok(1000), Ok(7)));
        assert!(count("many").is_err() && count("").is_err() && count("18446744073709551615k").is_err());
    }

    #[test]
    fn numbers_within_bounds() {
        assert_eq!(number("4", 1, 64), Ok(4));
        assert_eq!(number("18446744073709551615", 0, u64::MAX), Ok(u64::MAX));
        for text in ["0", "65", "-1", "", "x", "1.5", "99999999999999999999999999999999999999999"] {
            assert!(number(text, 1, 64).is_err(), "{text}");
        }
    }

    #[test]
    fn definitions() {
        let pair = definition;
        assert_eq!(pair("N=3"), Ok(("N".into(), "3".into())));
        assert_eq!(pair("N"), Ok(("N".into(), "1".into())));
        assert_eq!(pair("_x="), Ok(("_x".into(), "".into())));
        assert_eq!(pair("E=a==b"), Ok(("E".into(), "a==b".into())));
        for text in ["", "=3", "3=N", "a b", "f(x)=x", "ä"] {
            assert!(pair(text).is_err(), "{text}");
        }
    }
}
