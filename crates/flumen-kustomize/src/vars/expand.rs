//! Expanding `$(NAME)` in a text.
//!
//! `$$` is a dollar sign. A name that nobody knows stays as it is, so that Kubernetes, which has the
//! same notation for environment variables, can expand it later.

use std::collections::BTreeMap;

use flumen_yaml::Text;

use crate::go_float::shortest;

/// The value of a variable, or of a text that is nothing but one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expansion {
    Text(Text),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// A mapping or a sequence, which cannot be put into a text.
    Compound,
}

/// The values of variables, and which of them were asked for.
#[derive(Debug, Default)]
pub(super) struct Replacer {
    values: BTreeMap<Text, (Expansion, bool)>,
}

impl Replacer {
    pub(super) fn insert(&mut self, name: Text, value: Expansion) {
        self.values.insert(name, (value, false));
    }

    fn value(&mut self, name: &str) -> Option<&Expansion> {
        let (value, is_used) = self.values.get_mut(name)?;
        if *value == Expansion::Compound {
            return None;
        }
        *is_used = true;
        Some(value)
    }

    /// The names that nobody asked for, with commas between them.
    pub(super) fn unused(&self) -> String {
        let unused = self.values.iter().filter(|(_, (_, is_used))| !is_used);
        unused.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",")
    }
}

/// Expands all variables in a text. If the text is one variable, the value keeps its type.
pub(super) fn expand(input: &Text, replacer: &mut Replacer) -> Expansion {
    let whole = input.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    if let Some(name) = whole.filter(|name| !name.contains(')')) {
        let value = replacer.value(name).cloned();
        return value.unwrap_or_else(|| Expansion::Text(input.clone()));
    }
    let mut out = String::with_capacity(input.len());
    let mut rest = input.as_str();
    while let Some(dollar) = rest.find('$') {
        out.push_str(&rest[..dollar]);
        let after = &rest[dollar + 1..];
        if let Some(escaped) = after.strip_prefix('$') {
            out.push('$');
            rest = escaped;
        } else if let Some((name, behind)) =
            after.strip_prefix('(').and_then(|inner| inner.split_once(')'))
        {
            match replacer.value(name) {
                Some(value) => push(&mut out, value),
                None => out.push_str(&rest[dollar..dollar + name.len() + 3]),
            }
            rest = behind;
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    Expansion::Text(Text::from(out))
}

fn push(out: &mut String, value: &Expansion) {
    match value {
        Expansion::Text(text) => out.push_str(text),
        Expansion::Int(number) => out.push_str(&number.to_string()),
        Expansion::Float(number) => out.push_str(&shortest(*number)),
        Expansion::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Expansion::Compound => {}
    }
}
