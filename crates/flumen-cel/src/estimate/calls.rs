//! What calls of functions cost.

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

use super::{Entry, Estimator, Range, Step, range::scaled};
use crate::{functions, overloads::Overload, types::Type};

/// Reading a text, for each of its characters.
const TEXT: f64 = 0.1;
/// Matching a pattern, for each of its characters.
const PATTERN: f64 = 0.25;
/// The longest pattern behind a named format.
const LONGEST_FORMAT: f64 = 128.0;

struct Call<'a> {
    name: String,
    target: Option<&'a IdedExpr>,
    args: Vec<&'a IdedExpr>,
    costs: Vec<Range>,
}

/// A cost, and the size of what comes out.
type Priced = (Range, Option<Range>);

pub(super) fn cost<'a>(
    estimator: &mut Estimator<'a>,
    expr: &'a IdedExpr,
    call: &'a CallExpr,
) -> Range {
    let mut target = call.target.as_deref();
    let mut name = call.func_name.clone();
    if let Some(Expr::Ident(prefix)) = target.map(|target| &target.expr)
        && functions::is_library(prefix, &name)
    {
        name = format!("{prefix}.{name}");
        target = None;
    }
    let args: Vec<_> = call.args.iter().collect();
    if let ("dyn", [arg]) = (name.as_str(), args.as_slice()) {
        let cost = estimator.cost(arg);
        if let Some(size) = estimator.size(arg) {
            estimator.sizes.insert(expr.id, size);
        }
        if let Some(entry) = estimator.entry(arg) {
            estimator.entries.insert(expr.id, entry);
        }
        return cost.plus(Range::ONE);
    }
    let costs: Vec<_> = args.iter().map(|arg| estimator.cost(arg)).collect();
    let mut sum = Range::ZERO;
    if let Some(target) = target {
        sum = estimator.cost(target);
    }
    let call = Call { name, target, args, costs };
    let overloads = estimator.overloads(expr.id);
    let mut total: Option<Range> = None;
    let mut size: Option<Range> = None;
    let logical = [operators::LOGICAL_AND, operators::LOGICAL_OR].contains(&call.name.as_str());
    if overloads.is_empty() {
        let cost =
            if logical { logical_cost(&call) } else { Range::ONE.plus(argument_costs(&call)) };
        return sum.plus(cost);
    }
    for overload in overloads {
        let (cost, result) = priced(estimator, expr, &call, overload);
        total = Some(total.map_or(cost, |total| total.union(cost)));
        if let Some(result) = result {
            size = Some(size.map_or(result, |size| size.union(result)));
        }
        if call.name == operators::INDEX {
            index(estimator, expr, &call, overload, &mut size);
        }
        if size.is_none() {
            size = estimator.size(expr);
        }
    }
    if let Some(size) = size {
        estimator.sizes.insert(expr.id, size);
    }
    sum.plus(total.unwrap_or(Range::ZERO))
}

/// An element has the size and the path that its list or mapping gives it.
fn index<'a>(
    estimator: &mut Estimator<'a>,
    expr: &'a IdedExpr,
    call: &Call<'a>,
    overload: &Overload,
    size: &mut Option<Range>,
) {
    let (Some(Type::List(_) | Type::Map(..)), Some(of)) =
        (overload.parameters.first(), call.args.first())
    else {
        return;
    };
    *size = estimator.entry(of).map(|entry| entry.value);
    let mut path = estimator.path(of);
    path.push(Step::Element);
    estimator.paths.insert(expr.id, path);
}

fn argument_costs(call: &Call<'_>) -> Range {
    call.costs.iter().fold(Range::ZERO, |sum, cost| sum.plus(*cost))
}

fn logical_cost(call: &Call<'_>) -> Range {
    let min = call.costs.first().map_or(0, |first| first.min);
    Range { min, max: argument_costs(call).max }
}

fn priced<'a>(
    estimator: &mut Estimator<'a>,
    expr: &'a IdedExpr,
    call: &Call<'a>,
    overload: &Overload,
) -> Priced {
    let args = argument_costs(call);
    if let Some((cost, size)) = extension(estimator, call, overload) {
        return (cost.plus(args), size);
    }
    let Some((cost, size)) = standard(estimator, expr, call, overload) else {
        return (Range::ONE.plus(args), None);
    };
    match call.name.as_str() {
        operators::CONDITIONAL => (cost, size),
        _ => (cost.plus(args), size),
    }
}

/// Functions of the language itself that cost more than one.
fn standard<'a>(
    estimator: &mut Estimator<'a>,
    expr: &'a IdedExpr,
    call: &Call<'a>,
    overload: &Overload,
) -> Option<Priced> {
    let first = overload.parameters.first();
    let is_text = matches!(first, Some(Type::Text | Type::Bytes));
    match (call.name.as_str(), call.target, call.args.as_slice()) {
        ("format", Some(target), _) => Some((size(estimator, target).scaled(TEXT), None)),
        ("bytes", None, [arg]) if first == Some(&Type::Text) => {
            let size = size(estimator, arg);
            let result = Range { min: size.min, max: size.max.wrapping_mul(4) };
            Some((size.scaled(TEXT), Some(result)))
        }
        ("string", None, [arg]) if first == Some(&Type::Bytes) => {
            let size = size(estimator, arg);
            Some((size.scaled(TEXT), Some(Range { min: size.min / 4, max: size.max })))
        }
        ("strings.quote", None, [arg]) => {
            let size = size(estimator, arg);
            let max = size.max.wrapping_mul(2).wrapping_add(2);
            Some((size.scaled(TEXT), Some(Range { min: size.min.wrapping_add(2), max })))
        }
        ("startsWith" | "endsWith", Some(_), [arg]) => {
            Some((size(estimator, arg).scaled(TEXT), None))
        }
        (operators::IN, None, [_, list]) if matches!(overload.parameters[1], Type::List(_)) => {
            Some((size(estimator, list), None))
        }
        ("matches", Some(target), [pattern]) => {
            let text = size(estimator, target).plus(Range::ONE).scaled(TEXT);
            Some((text.times(size(estimator, pattern).scaled(PATTERN)), None))
        }
        ("contains", Some(target), [part]) => {
            let text = size(estimator, target).scaled(TEXT);
            Some((text.times(size(estimator, part).scaled(TEXT)), None))
        }
        (operators::CONDITIONAL, None, [_, yes, no]) => {
            let size = size(estimator, yes).union(size(estimator, no));
            if let Some(entry) = united(estimator.entry(yes), estimator.entry(no)) {
                estimator.entries.insert(expr.id, entry);
            }
            let cost = call.costs[0].plus(call.costs[1].union(call.costs[2]));
            Some((cost, Some(size)))
        }
        (operators::ADD, None, [a, b]) if is_text || matches!(first, Some(Type::List(_))) => {
            let size = size(estimator, a).plus(size(estimator, b));
            if let Some(entry) = united(estimator.entry(a), estimator.entry(b)) {
                estimator.entries.insert(expr.id, entry);
            }
            let cost = if is_text { size.scaled(TEXT) } else { Range::ONE };
            Some((cost, Some(size)))
        }
        (
            operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS,
            None,
            [a, b],
        ) if is_text => Some((compared(estimator, a, b), None)),
        (operators::EQUALS | operators::NOT_EQUALS, None, [a, b]) => {
            Some((compared(estimator, a, b), None))
        }
        _ => None,
    }
}

fn compared(estimator: &mut Estimator<'_>, a: &IdedExpr, b: &IdedExpr) -> Range {
    let max = size(estimator, a).max.min(size(estimator, b).max);
    Range { min: u64::from(max > 0), max }.scaled(TEXT)
}

fn united(a: Option<Entry>, b: Option<Entry>) -> Option<Entry> {
    let (a, b) = (a?, b?);
    Some(Entry { is_list: a.is_list, key: a.key.union(b.key), value: a.value.union(b.value) })
}

fn size(estimator: &mut Estimator<'_>, expr: &IdedExpr) -> Range {
    estimator.size_or_unknown(expr)
}

/// Functions that Kubernetes prices itself.
fn extension<'a>(
    estimator: &mut Estimator<'a>,
    call: &Call<'a>,
    overload: &Overload,
) -> Option<Priced> {
    let plain = |cost: Range| Some((cost, None));
    match (call.name.as_str(), call.target, call.args.as_slice()) {
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(target), _) => {
            let count = size(estimator, target);
            let Type::List(element) = estimator.type_of(target) else {
                return plain(count.scaled(TEXT));
            };
            let mut each = Range::ONE;
            if matches!(**element, Type::Text | Type::Bytes) {
                each = each.plus(estimator.element_size(target).scaled(TEXT));
            }
            plain(count.times(each))
        }
        ("url", None, [arg]) => {
            let size = size(estimator, arg);
            Some((size.scaled(TEXT), Some(size)))
        }
        ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(target), _) => {
            let size = size(estimator, target);
            Some((size.scaled(TEXT), Some(size)))
        }
        ("replace", Some(target), [from, to, ..]) => {
            let text = size(estimator, target);
            let result = replaced(text, size(estimator, from), size(estimator, to));
            Some((text.scaled(2.0 * TEXT), Some(result)))
        }
        ("split", Some(target), args) => {
            let text = size(estimator, target);
            let limit = args.get(1).and_then(|limit| match &limit.expr {
                Expr::Literal(LiteralValue::Int(limit)) => Some(limit.inner().cast_unsigned()),
                _ => None,
            });
            Some((text.scaled(2.0 * TEXT), Some(Range::up_to(limit.unwrap_or(text.max)))))
        }
        ("join", Some(target), args) => {
            let count = size(estimator, target);
            let mut result = Range::ZERO;
            if matches!(estimator.type_of(target), Type::List(_)) {
                result = count.times(estimator.element_size(target));
            }
            if let [separator, ..] = args {
                let between =
                    Range { min: count.min.saturating_sub(1), max: count.max.saturating_sub(1) };
                result = result.plus(size(estimator, separator).times(between));
            }
            Some((result.scaled(TEXT), Some(result)))
        }
        ("find" | "findAll", Some(target), [pattern, ..]) => {
            let text = size(estimator, target);
            let cost = text.plus(Range::ONE).scaled(TEXT);
            let cost = cost.times(size(estimator, pattern).scaled(PATTERN));
            Some((cost, Some(Range::up_to(text.max))))
        }
        ("validate", Some(_), [arg]) => {
            plain(size(estimator, arg).scaled(TEXT).scaled(LONGEST_FORMAT * PATTERN))
        }
        _ => network_and_numbers(estimator, call, overload),
    }
}

fn network_and_numbers<'a>(
    estimator: &mut Estimator<'a>,
    call: &Call<'a>,
    overload: &Overload,
) -> Option<Priced> {
    /// An address has 4 or 16 bytes.
    const ADDRESS: Range = Range { min: 4, max: 16 };
    let plain = |cost: Range| Some((cost, None));
    let is_text = overload.parameters.get(1) == Some(&Type::Text);
    match (call.name.as_str(), call.target, call.args.as_slice()) {
        ("ip.isCanonical", None, [arg]) => plain(size(estimator, arg).scaled(2.0 * TEXT)),
        (
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver",
            None,
            [arg, ..],
        ) => plain(size(estimator, arg).scaled(TEXT)),
        ("containsIP" | "containsCIDR", Some(_), [arg]) => {
            let mut cost = ADDRESS.plus(ADDRESS).scaled(TEXT);
            if call.name == "containsCIDR" {
                cost = cost.plus(ADDRESS.scaled(TEXT)).plus(Range::ONE);
            }
            if is_text {
                cost = cost.plus(size(estimator, arg).scaled(TEXT));
            }
            plain(cost)
        }
        (
            "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast"
            | "sign"
            | "asInteger"
            | "isInteger"
            | "asApproximateFloat"
            | "isGreaterThan"
            | "isLessThan"
            | "compareTo"
            | "add"
            | "sub"
            | "major"
            | "minor"
            | "patch"
            | "getScheme"
            | "getHostname"
            | "getHost"
            | "getPort"
            | "getEscapedPath"
            | "getQuery"
            | "format.named",
            ..,
        ) => plain(Range::ONE),
        (operators::EQUALS, None, [a, b]) => {
            let (Type::Library(name), Type::Library(other)) =
                (estimator.type_of(a), estimator.type_of(b))
            else {
                return None;
            };
            match *name {
                _ if name != other => None,
                "kubernetes.NamedFormat" => plain(Range { min: 1, max: 64 }.scaled(TEXT)),
                "kubernetes.URL" => {
                    let max = estimator.size(b).map_or(1, |size| size.max);
                    plain(Range { min: 1, max }.scaled(TEXT))
                }
                _ => plain(Range::ONE),
            }
        }
        _ => None,
    }
}

/// How long a text may be after something in it was replaced.
fn replaced(text: Range, from: Range, to: Range) -> Range {
    let ratio = |text: u64, part: u64| scaled(text, 1.0 / to_f64(part));
    let (count_max, kept_max) = if from.min == 0 {
        (text.max.saturating_add(1), text.max)
    } else if to.max <= from.min {
        (0, text.max)
    } else {
        (ratio(text.max, from.min), 0)
    };
    let (count_min, kept_min) = if from.max == 0 {
        (text.min.saturating_add(1), text.min)
    } else if from.max <= to.min {
        (0, text.min)
    } else {
        (ratio(text.min, from.max), 0)
    };
    Range { min: count_min, max: count_max }.times(to).plus(Range { min: kept_min, max: kept_max })
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn to_f64(value: u64) -> f64 {
    value as f64
}
