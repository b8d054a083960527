//! Classes of Unicode in patterns, such as `\p{Lu}`.

use std::{borrow::Cow, fmt::Write};

use regex_syntax::hir::{Class, HirKind};

/// A pattern in which the classes are spelled out as ranges of letters.
pub(super) fn spelled_out(source: &str) -> Result<Cow<'_, str>, String> {
    if !source.contains("\\p") && !source.contains("\\P") {
        return Ok(Cow::Borrowed(source));
    }
    let mut pattern = String::with_capacity(source.len());
    let mut rest = source;
    let mut in_brackets = false;
    while let Some(first) = rest.chars().next() {
        let class = if first == '\\' { class_at(rest) } else { None };
        if let Some(class) = class {
            let ranges = ranges(class)?;
            let (open, close) = if in_brackets { ("", "") } else { ("[", "]") };
            pattern.extend([open, &ranges, close]);
            rest = &rest[class.len()..];
            continue;
        }
        // What is escaped means nothing to the brackets around it.
        let length = match first {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => first.len_utf8(),
        };
        match first {
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            _ => {}
        }
        pattern.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    Ok(Cow::Owned(pattern))
}

/// The class that a text begins with: `\pL` or `\p{Name}`.
fn class_at(text: &str) -> Option<&str> {
    let name = text.strip_prefix("\\p").or_else(|| text.strip_prefix("\\P"))?;
    let length =
        if name.starts_with('{') { name.find('}')? + 1 } else { name.chars().next()?.len_utf8() };
    Some(&text[..2 + length])
}

/// The letters of a class, as they stand in brackets.
fn ranges(class: &str) -> Result<String, String> {
    let unknown = || format!("invalid character class range: `{class}`");
    let name = class[2..].trim_start_matches('{').trim_start_matches('^');
    // Names are taken as they are written, and all of them begin in this way.
    if !name.starts_with(|first: char| first.is_ascii_uppercase()) {
        return Err(unknown());
    }
    // `\p{^Greek}` is another way to write `\P{Greek}`.
    let class = match class.split_once("{^") {
        Some(("\\p", name)) => Cow::Owned(format!("\\P{{{name}")),
        Some((_, name)) => Cow::Owned(format!("\\p{{{name}")),
        None => Cow::Borrowed(class),
    };
    let parsed = regex_syntax::parse(&class).map_err(|_| unknown())?;
    let HirKind::Class(Class::Unicode(letters)) = parsed.kind() else { return Err(unknown()) };
    let mut text = String::new();
    for range in letters.ranges() {
        let (start, end) = (u32::from(range.start()), u32::from(range.end()));
        let _ = write!(text, "\\x{{{start:X}}}-\\x{{{end:X}}}");
    }
    Ok(text)
}
