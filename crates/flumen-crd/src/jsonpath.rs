//! Paths to values, as columns of definitions have them: `.status.conditions[?(@.type=="Ready")]`.

use std::cmp::Ordering;

use serde_json::Value;

/// A path that was read once.
#[derive(Clone, Debug)]
pub(crate) struct JsonPath {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Field(String),
    /// All values of an object or a list.
    All,
    /// The value and everything below it.
    Recursive,
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: usize,
    },
    Index(i64),
    Union(Vec<Self>),
    Filter {
        left: Operand,
        operator: Operator,
        right: Operand,
    },
}

#[derive(Clone, Debug)]
enum Operand {
    Path(JsonPath),
    Value(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Exists,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl JsonPath {
    /// Reads a path; `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        rest = rest.strip_prefix(['$', '@']).unwrap_or(rest);
        let mut steps = Vec::new();
        while let Some(first) = rest.chars().next() {
            match first {
                '.' if rest.starts_with("..") => {
                    steps.push(Step::Recursive);
                    rest = &rest[1..];
                    if rest[1..].starts_with('[') {
                        rest = &rest[1..];
                    }
                }
                '.' => {
                    let (name, after) = name(&rest[1..]);
                    match name.as_str() {
                        "" if after.is_empty() || after.starts_with('[') => {}
                        "" => return None,
                        "*" => steps.push(Step::All),
                        _ => steps.push(Step::Field(name)),
                    }
                    rest = after;
                }
                '[' => {
                    let end = closing(rest)?;
                    steps.push(brackets(rest[1..end].trim())?);
                    rest = &rest[end + 1..];
                }
                _ => return None,
            }
        }
        Some(Self { steps })
    }

    /// The values at the path, in their order.
    pub(crate) fn find<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![value];
        for step in &self.steps {
            let mut next = Vec::new();
            for value in found {
                step.apply(value, &mut next);
            }
            found = next;
        }
        found
    }
}

impl Step {
    fn apply<'a>(&self, value: &'a Value, found: &mut Vec<&'a Value>) {
        match self {
            Self::Field(name) => found.extend(value.get(name)),
            Self::All => found.extend(children(value)),
            Self::Recursive => {
                found.push(value);
                children(value).for_each(|child| self.apply(child, found));
            }
            Self::Index(index) => {
                let Some(items) = value.as_array() else { return };
                found.extend(place(*index, items.len()).and_then(|place| items.get(place)));
            }
            Self::Slice { start, end, step } => {
                let Some(items) = value.as_array() else { return };
                let bound = |index: Option<i64>, otherwise: usize| match index {
                    None => otherwise,
                    Some(index) => place(index, items.len()).unwrap_or(0).min(items.len()),
                };
                let (start, end) = (bound(*start, 0), bound(*end, items.len()));
                if start < end {
                    found.extend(items[start..end].iter().step_by((*step).max(1)));
                }
            }
            Self::Union(steps) => steps.iter().for_each(|step| step.apply(value, found)),
            Self::Filter { left, operator, right } => {
                let Some(items) = value.as_array() else { return };
                found.extend(items.iter().filter(|item| holds(item, left, *operator, right)));
            }
        }
    }
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(map) => Box::new(map.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Negative places count from the end.
fn place(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(place) => Some(place),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}

/// A name up to the next dot or bracket; a backslash takes the next character as it is.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '.' | '[' => return (name, &text[at..]),
            '\\' => name.extend(chars.next().map(|(_, escaped)| escaped)),
            other => name.push(other),
        }
    }
    (name, "")
}

/// The bracket that closes the first, outside of quotation marks.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0usize, None);
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (Some(open), char) if char == open => quote = None,
            (None, '\'' | '"') => quote = Some(char),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn unquoted(text: &str) -> Option<&str> {
    ['\'', '"'].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
}

fn brackets(text: &str) -> Option<Step> {
    if text == "*" {
        return Some(Step::All);
    }
    if let Some(filter) = text.strip_prefix("?(").and_then(|it| it.strip_suffix(')')) {
        return self::filter(filter.trim());
    }
    let parts: Vec<_> = text.split(',').map(str::trim).collect();
    if parts.len() > 1 {
        return parts.into_iter().map(brackets).collect::<Option<_>>().map(Step::Union);
    }
    if let Some(name) = unquoted(text) {
        return Some(Step::Field(name.to_owned()));
    }
    if let Ok(index) = text.parse() {
        return Some(Step::Index(index));
    }
    let number = |text: &str| match text {
        "" => Some(None),
        text => text.parse::<i64>().ok().map(Some),
    };
    let mut bounds = text.splitn(3, ':');
    let start = number(bounds.next()?)?;
    let end = number(bounds.next()?)?;
    let step = match bounds.next() {
        None => 1,
        Some(step) => step.parse().ok()?,
    };
    Some(Step::Slice { start, end, step })
}

fn filter(text: &str) -> Option<Step> {
    let operators = [
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ];
    let found = operators.into_iter().find_map(|(sign, operator)| {
        let (left, right) = text.split_once(sign)?;
        Some((left.trim(), operator, right.trim()))
    });
    let (left, operator, right) = found.unwrap_or((text, Operator::Exists, "null"));
    Some(Step::Filter { left: operand(left)?, operator, right: operand(right)? })
}

fn operand(text: &str) -> Option<Operand> {
    if text.starts_with(['@', '$']) {
        return JsonPath::parse(text).map(Operand::Path);
    }
    match unquoted(text) {
        Some(text) => Some(Operand::Value(text.into())),
        None => serde_json::from_str(text).ok().map(Operand::Value),
    }
}

fn holds(item: &Value, left: &Operand, operator: Operator, right: &Operand) -> bool {
    let left = left.values(item);
    if operator == Operator::Exists {
        return !left.is_empty();
    }
    let (Some(left), Some(right)) = (left.first(), right.values(item).first().copied()) else {
        return false;
    };
    let order = compare(left, right);
    match operator {
        Operator::Exists => true,
        Operator::Equal => order == Some(Ordering::Equal),
        Operator::NotEqual => order.is_some_and(Ordering::is_ne),
        Operator::Less => order.is_some_and(Ordering::is_lt),
        Operator::LessOrEqual => order.is_some_and(Ordering::is_le),
        Operator::Greater => order.is_some_and(Ordering::is_gt),
        Operator::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
    }
}

impl Operand {
    fn values<'a>(&'a self, item: &'a Value) -> Vec<&'a Value> {
        match self {
            Self::Path(path) => path.find(item),
            Self::Value(value) => vec![value],
        }
    }
}

fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::JsonPath;

    #[track_caller]
    fn check(path: &str, expected: &Value) {
        let object = json!({
            "spec": {"a": 1, "l": ["x", "y", "z"], "a.b": true},
            "status": {"conditions": [{"type": "Ready", "status": "True"},
                                      {"type": "Other", "status": "False", "n": 2}]}});
        let path = JsonPath::parse(path).expect("a path");
        assert_eq!(json!(path.find(&object)), *expected);
    }

    #[test]
    fn values_are_found() {
        check(".spec.a", &json!([1]));
        check(".spec['a.b']", &json!([true]));
        check(".spec.a\\.b", &json!([true]));
        check(".spec.l[0]", &json!(["x"]));
        check(".spec.l[-1]", &json!(["z"]));
        check(".spec.l[1:]", &json!(["y", "z"]));
        check(".spec.l[0:3:2]", &json!(["x", "z"]));
        check(".spec.l[0,2]", &json!(["x", "z"]));
        check(".spec.l[*]", &json!(["x", "y", "z"]));
        check(".status.conditions[?(@.type==\"Ready\")].status", &json!(["True"]));
        check(".status.conditions[?(@.type != 'Ready')].status", &json!(["False"]));
        check(".status.conditions[?(@.n)].type", &json!(["Other"]));
        check(".status.conditions[?(@.n > 1)].type", &json!(["Other"]));
        check("..type", &json!(["Ready", "Other"]));
        check(".nope.deeper", &json!([]));
        check(".spec.l[9]", &json!([]));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in ["spec", ".a[", ".a[?(]", ".a[x]"] {
            assert!(JsonPath::parse(text).is_none(), "{text}");
        }
    }
}
