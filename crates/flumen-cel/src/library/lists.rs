//! Functions of lists.

use std::{cmp::Ordering, rc::Rc};

use super::count;
use crate::{
    Budget, Fault, Outcome,
    collection::List,
    functions::{self, no_overload_of_types},
    operators,
    value::Value,
};

pub(super) fn apply<'a>(
    name: &str,
    args: &[Value<'a>],
    budget: &mut Budget,
) -> Option<Outcome<'a>> {
    if let ("lists.range", [Value::Int(end)]) = (name, args) {
        let end = u64::try_from(*end).unwrap_or(0);
        return Some(budget.spend(end).map(|()| Value::list((0..end).map(count).collect())));
    }
    let [Value::List(list), rest @ ..] = args else { return None };
    let is_known = matches!(
        name,
        "isSorted"
            | "sum"
            | "max"
            | "min"
            | "indexOf"
            | "lastIndexOf"
            | "slice"
            | "flatten"
            | "distinct"
            | "reverse"
            | "first"
            | "last"
            | "sort"
    );
    if !is_known {
        return None;
    }
    if let Err(fault) = budget.spend(list.len() as u64) {
        return Some(Err(fault));
    }
    Some(match (name, rest) {
        ("isSorted", []) => is_sorted(list).map(Value::Bool),
        ("sum", []) => sum(list, budget),
        ("max", []) => extreme(list, name, Ordering::is_gt),
        ("min", []) => extreme(list, name, Ordering::is_lt),
        ("indexOf", [value]) => place(list, value, false, budget),
        ("lastIndexOf", [value]) => place(list, value, true, budget),
        ("slice", [Value::Int(start), Value::Int(end)]) => slice(list, *start, *end),
        ("flatten", []) => flatten(list, 1, budget),
        ("flatten", [Value::Int(depth)]) => match usize::try_from(*depth) {
            Ok(depth) => flatten(list, depth, budget),
            Err(_) => Err(Fault::new("level must be non-negative")),
        },
        ("distinct", []) => distinct(list, budget),
        ("reverse", []) => {
            let mut values: Vec<_> = list.iter().collect();
            values.reverse();
            Ok(Value::list(values))
        }
        ("first", []) => Ok(Value::Optional(list.get(0).map(Rc::new))),
        ("last", []) => {
            let last = list.len().checked_sub(1).and_then(|last| list.get(last));
            Ok(Value::Optional(last.map(Rc::new)))
        }
        ("sort", []) => sort(list, budget),
        _ => Err(no_overload_of_types(name, args)),
    })
}

fn order(a: &Value<'_>, b: &Value<'_>) -> Result<Ordering, Fault> {
    a.compare(b).ok_or(Fault::NO_OVERLOAD)
}

fn is_sorted(list: &List<'_>) -> Result<bool, Fault> {
    let mut previous: Option<Value<'_>> = None;
    for value in list.iter() {
        if let Some(previous) = &previous
            && order(previous, &value)?.is_gt()
        {
            return Ok(false);
        }
        previous = Some(value);
    }
    Ok(true)
}

fn sum<'a>(list: &List<'a>, budget: &mut Budget) -> Outcome<'a> {
    let mut sum: Option<Value<'a>> = None;
    for value in list.iter() {
        sum = Some(match sum {
            None => value,
            Some(sum) => {
                operators::apply("_+_", &[sum, value], budget).unwrap_or(Err(Fault::NO_OVERLOAD))?
            }
        });
    }
    Ok(sum.unwrap_or(Value::Int(0)))
}

fn extreme<'a>(list: &List<'a>, name: &str, wins: fn(Ordering) -> bool) -> Outcome<'a> {
    let mut best: Option<Value<'a>> = None;
    for value in list.iter() {
        let replaces = match &best {
            None => true,
            Some(best) => wins(order(&value, best)?),
        };
        if replaces {
            best = Some(value);
        }
    }
    best.ok_or_else(|| Fault::new(format!("{name} called on empty list")))
}

fn place<'a>(
    list: &List<'a>,
    value: &Value<'a>,
    from_end: bool,
    budget: &mut Budget,
) -> Outcome<'a> {
    let mut found = None;
    for (place, element) in list.iter().enumerate() {
        if element.equals(value, budget)? {
            found = Some(place);
            if !from_end {
                break;
            }
        }
    }
    Ok(found.map_or(Value::Int(-1), |place| count(place as u64)))
}

fn slice<'a>(list: &List<'a>, start: i64, end: i64) -> Outcome<'a> {
    if start < 0 || end < 0 {
        let text = format!("cannot slice({start}, {end}), negative indexes not supported");
        return Err(Fault::new(text));
    }
    if start > end {
        let text = "start index must be less than or equal to end index";
        return Err(Fault::new(format!("cannot slice({start}, {end}), {text}")));
    }
    let length = list.len();
    match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if end <= length => {
            Ok(Value::list((start..end).filter_map(|place| list.get(place)).collect()))
        }
        _ => {
            let text = format!("cannot slice({start}, {end}), list is length {length}");
            Err(Fault::new(text))
        }
    }
}

fn flatten<'a>(list: &List<'a>, depth: usize, budget: &mut Budget) -> Outcome<'a> {
    fn push<'a>(
        list: &List<'a>,
        depth: usize,
        into: &mut Vec<Value<'a>>,
        budget: &mut Budget,
    ) -> Result<(), Fault> {
        for value in list.iter() {
            budget.spend(1)?;
            match value {
                Value::List(inner) if depth > 0 => push(&inner, depth - 1, into, budget)?,
                other => into.push(other),
            }
        }
        Ok(())
    }
    let mut values = Vec::new();
    push(list, depth, &mut values, budget)?;
    Ok(Value::list(values))
}

fn distinct<'a>(list: &List<'a>, budget: &mut Budget) -> Outcome<'a> {
    let mut values: Vec<Value<'a>> = Vec::new();
    'next: for value in list.iter() {
        for known in &values {
            if known.equals(&value, budget)? {
                continue 'next;
            }
        }
        values.push(value);
    }
    Ok(Value::list(values))
}

fn sort<'a>(list: &List<'a>, budget: &mut Budget) -> Outcome<'a> {
    let mut values: Vec<_> = list.iter().collect();
    let comparisons = values.len() as u64 * u64::from(values.len().max(2).ilog2());
    budget.spend(comparisons)?;
    if let Some(odd) = values.iter().find(|value| value.compare(&values[0]).is_none()) {
        return Err(functions::no_overload_for("sort", odd));
    }
    values.sort_by(|a, b| a.compare(b).unwrap_or(Ordering::Equal));
    Ok(Value::list(values))
}
