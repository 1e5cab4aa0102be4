//! Data inside a page: JSON that can stand in a script element, whatever the texts in it say.

/// A value of JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Null,
    Number(i64),
    Real(f64),
    Text(String),
    List(Vec<Data>),
    Record(Vec<(&'static str, Data)>),
}

/// The largest number that a script can tell from its neighbours.
const LARGEST: i64 = (1 << 53) - 1;

impl Data {
    pub fn text(text: impl Into<String>) -> Data {
        Data::Text(text.into())
    }

    pub fn count(number: usize) -> Data {
        Data::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }

    pub fn list(items: impl IntoIterator<Item = Data>) -> Data {
        Data::List(items.into_iter().collect())
    }

    pub fn option(item: Option<Data>) -> Data {
        item.unwrap_or(Data::Null)
    }

    pub fn write(&self, out: &mut String) {
        match self {
            Data::Null => out.push_str("null"),
            Data::Number(number) if (-LARGEST..=LARGEST).contains(number) => {
                out.push_str(&number.to_string())
            }
            Data::Number(number) => quote(&number.to_string(), out),
            Data::Real(number) if number.is_finite() => out.push_str(&number.to_string()),
            Data::Real(_) => out.push_str("null"),
            Data::Text(text) => quote(text, out),
            Data::List(items) => {
                out.push('[');
                for (number, item) in items.iter().enumerate() {
                    if number > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Data::Record(fields) => {
                out.push('{');
                for (number, (name, value)) in fields.iter().enumerate() {
                    // One field a line, so that two reports can be compared.
                    out.push_str(if number > 0 { ",\n" } else { "\n" });
                    quote(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// A string of JSON without anything that ends a script element, begins a comment or a tag, or is no character of its own.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}
