//! Texts with mistakes in them: what the tests of every parser feed it.

use preempt_core::Rng;

/// Replaces, deletes, doubles, exchanges or adds a piece, or a sign of it.
pub fn mutate(text: &mut String, rng: &mut Rng, signs: &[char]) {
    let ranges = pieces(text);
    if ranges.is_empty() {
        return;
    }
    let (start, end) = ranges[rng.below(ranges.len())];
    let piece = text[start..end].to_string();
    match rng.below(6) {
        0 => {
            let sign = signs[rng.below(signs.len())];
            let first = piece.chars().next().map_or(0, char::len_utf8);
            text.replace_range(start..start + first, &sign.to_string());
        }
        1 => text.replace_range(start..end, ""),
        2 => text.insert_str(start, &format!("{piece} ")),
        3 => {
            let (other_start, other_end) = ranges[rng.below(ranges.len())];
            if other_start >= end {
                let other = text[other_start..other_end].to_string();
                text.replace_range(other_start..other_end, &piece);
                text.replace_range(start..end, &other);
            }
        }
        4 => text.insert(end, signs[rng.below(signs.len())]),
        _ => {
            let first = piece.chars().next().map_or(0, char::len_utf8);
            text.replace_range(start..start + first, "");
        }
    }
}

/// Byte ranges of words, numbers, strings and single signs.
pub fn pieces(text: &str) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let mut end = start + c.len_utf8();
        let word = |c: char| c.is_alphanumeric() || c == '_';
        while let Some((at, next)) = chars.peek().copied() {
            if !(word(c) && word(next)) {
                break;
            }
            end = at + next.len_utf8();
            chars.next();
        }
        pieces.push((start, end));
    }
    pieces
}
