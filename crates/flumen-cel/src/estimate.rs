//! What an evaluation may cost, before there is anything to evaluate.
//!
//! The figures are those of cel-go and of Kubernetes, which refuses rules by them: a change of one
//! changes which definitions are accepted.

mod calls;
mod macros;
mod range;

use std::collections::BTreeMap;

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};

use crate::{
    Dialect,
    check::Checked,
    macros::{Pairs, SortBy},
    overloads::Overload,
    shape::{Shape, ShapeKind},
    types::Type,
};
use range::Range;

/// The most that an expression costs whose variables have the given shape.
pub(crate) fn cost(tree: &IdedExpr, checked: &Checked, shape: &Shape) -> u64 {
    let mut estimator = Estimator {
        checked,
        shape,
        paths: BTreeMap::new(),
        sizes: BTreeMap::new(),
        entries: BTreeMap::new(),
        locals: Vec::new(),
    };
    estimator.cost(tree).max
}

/// The way from a variable to a part of it.
type Path<'a> = Vec<Step<'a>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step<'a> {
    Name(&'a str),
    Element,
    Key,
}

/// Sizes of keys and values of a collection.
#[derive(Clone, Copy)]
struct Entry {
    is_list: bool,
    key: Range,
    value: Range,
}

struct Local<'a> {
    name: &'a str,
    path: Path<'a>,
    size: Option<Range>,
    entry: Option<Entry>,
}

struct Estimator<'a> {
    checked: &'a Checked,
    shape: &'a Shape,
    paths: BTreeMap<u64, Path<'a>>,
    sizes: BTreeMap<u64, Range>,
    entries: BTreeMap<u64, Entry>,
    locals: Vec<Local<'a>>,
}

const CREATE_LIST: u64 = 10;
const CREATE_MAP: u64 = 30;
const CREATE_MESSAGE: u64 = 40;

impl<'a> Estimator<'a> {
    fn cost(&mut self, expr: &'a IdedExpr) -> Range {
        match &expr.expr {
            Expr::Literal(_) | Expr::Unspecified => Range::ZERO,
            Expr::Ident(name) => {
                let path = match self.local(name) {
                    Some(local) => local.path.clone(),
                    None => vec![Step::Name(name)],
                };
                self.paths.insert(expr.id, path);
                Range::ONE
            }
            Expr::Select(select) => {
                let operand = self.cost(&select.operand);
                if select.test {
                    return operand;
                }
                let own = match self.type_of(&select.operand) {
                    Type::Map(..) | Type::Object(_) | Type::Library(_) => Range::ONE,
                    _ => Range::ZERO,
                };
                let mut path = self.path(&select.operand);
                path.push(Step::Name(&select.field));
                self.paths.insert(expr.id, path);
                operand.plus(own)
            }
            Expr::Call(call) => self.call(expr, call),
            Expr::List(list) => {
                let mut sum = Range::fixed(CREATE_LIST);
                let mut value = Range::of_none(list.elements.is_empty());
                for element in &list.elements {
                    sum = sum.plus(self.cost(element));
                    value = value.union(self.size_or_unknown(element));
                }
                let entry = Entry { is_list: true, key: Range::ONE, value };
                self.entries.insert(expr.id, entry);
                sum
            }
            Expr::Map(map) => {
                let mut sum = Range::fixed(CREATE_MAP);
                let none = Range::of_none(map.entries.is_empty());
                let mut entry = Entry { is_list: false, key: none, value: none };
                for part in &map.entries {
                    let EntryExpr::MapEntry(part) = &part.expr else { continue };
                    sum = sum.plus(self.cost(&part.key)).plus(self.cost(&part.value));
                    entry.key = entry.key.union(self.size_or_unknown(&part.key));
                    entry.value = entry.value.union(self.size_or_unknown(&part.value));
                }
                self.entries.insert(expr.id, entry);
                sum
            }
            Expr::Struct(message) => {
                let mut sum = Range::fixed(CREATE_MESSAGE);
                for part in &message.entries {
                    if let EntryExpr::StructField(field) = &part.expr {
                        sum = sum.plus(self.cost(&field.value));
                    }
                }
                sum
            }
            Expr::Comprehension(it) => self.comprehension(expr, it),
        }
    }

    fn comprehension(&mut self, expr: &'a IdedExpr, it: &'a ComprehensionExpr) -> Range {
        let mut sum = self.cost(&it.iter_range).plus(self.cost(&it.accu_init));
        let depth = self.locals.len();
        let accumulated = Local {
            name: &it.accu_var,
            path: self.path(&it.accu_init),
            size: self.size(&it.accu_init),
            entry: self.entry(&it.accu_init),
        };
        self.locals.push(accumulated);
        self.push_element(&it.iter_var, &it.iter_range);
        let each = self.cost(&it.loop_cond).plus(self.cost(&it.loop_step));
        self.locals.truncate(depth + 1);
        sum = sum.plus(self.cost(&it.result));
        self.locals.truncate(depth);
        let count = self.size_or_unknown(&it.iter_range);
        sum = sum.plus(count.times(each));
        match &it.accu_init.expr {
            Expr::Literal(_) => {
                if let Some(size) = self.size(&it.accu_init) {
                    self.sizes.insert(expr.id, size);
                }
            }
            Expr::List(_) | Expr::Map(_) => {
                self.sizes.insert(expr.id, count);
                if let Some(entry) = self.entry(&it.loop_step) {
                    self.entries.insert(expr.id, entry);
                }
            }
            _ => {}
        }
        sum
    }

    /// Binds the variable of a comprehension to the elements of a list or the keys of a mapping.
    fn push_element(&mut self, name: &'a str, range: &'a IdedExpr) {
        let entry = self.entry(range);
        let is_list = match entry {
            Some(entry) => entry.is_list,
            None => matches!(self.type_of(range), Type::List(_)),
        };
        let mut path = self.path(range);
        path.push(if is_list { Step::Element } else { Step::Key });
        let size = entry.map(|entry| if is_list { entry.value } else { entry.key });
        self.locals.push(Local { name, path, size, entry: None });
    }

    fn local(&self, name: &str) -> Option<&Local<'a>> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn type_of(&self, expr: &IdedExpr) -> &Type {
        self.checked.types.get(&expr.id).unwrap_or(&Type::Dyn)
    }

    fn overloads(&self, id: u64) -> &'a [&'static Overload] {
        self.checked.overloads.get(&id).map_or(&[], Vec::as_slice)
    }

    fn path(&self, expr: &IdedExpr) -> Path<'a> {
        if let Expr::Ident(name) = &expr.expr
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    fn entry(&self, expr: &IdedExpr) -> Option<Entry> {
        self.entries.get(&expr.id).copied().or_else(|| match &expr.expr {
            Expr::Ident(name) => self.local(name).and_then(|local| local.entry),
            _ => None,
        })
    }

    fn size_or_unknown(&mut self, expr: &IdedExpr) -> Range {
        self.size(expr).unwrap_or(Range::UNKNOWN)
    }

    fn size(&mut self, expr: &IdedExpr) -> Option<Range> {
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        if let Some(size) = literal_size(expr) {
            return Some(size);
        }
        if let Some(size) = self.size_at(&self.path(expr)) {
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        if is_scalar(self.type_of(expr)) {
            return Some(Range::ONE);
        }
        match &expr.expr {
            Expr::Ident(name) => self.local(name).and_then(|local| local.size),
            _ => None,
        }
    }

    /// The size of what is at a path. All variables have the same shape.
    fn size_at(&self, path: &[Step<'_>]) -> Option<Range> {
        let (_, steps) = path.split_first()?;
        let mut shape = self.shape;
        for (place, step) in steps.iter().enumerate() {
            shape = match step {
                Step::Element => shape.element()?,
                Step::Key if matches!(shape.kind, ShapeKind::Map(_)) => {
                    // Kubernetes takes keys for nothing.
                    return (place + 1 == steps.len()).then_some(Range::ZERO);
                }
                Step::Name(name) => &shape.field(name)?.shape,
                Step::Key => return None,
            };
        }
        Some(Range::up_to(shape.max_elements))
    }

    /// The size of the elements of a list that an expression yields.
    fn element_size(&self, list: &IdedExpr) -> Range {
        let mut path = self.path(list);
        if path.is_empty() {
            return Range::UNKNOWN;
        }
        path.push(Step::Element);
        self.size_at(&path).unwrap_or(Range::UNKNOWN)
    }

    fn call(&mut self, expr: &'a IdedExpr, call: &'a CallExpr) -> Range {
        // Only Kubernetes asks for estimates.
        if let Some(pairs) = Pairs::of(call, Dialect::Kubernetes) {
            return self.pairs(expr, &pairs);
        }
        if let Some(sort) = SortBy::of(call, Dialect::Kubernetes) {
            return self.sort_by(expr, &sort);
        }
        calls::cost(self, expr, call)
    }
}

fn literal_size(expr: &IdedExpr) -> Option<Range> {
    let size = match &expr.expr {
        Expr::Literal(LiteralValue::String(text)) => text.inner().chars().count(),
        Expr::Literal(LiteralValue::Bytes(bytes)) => bytes.inner().len(),
        Expr::Literal(_) => 1,
        Expr::List(list) => list.elements.len(),
        Expr::Map(map) => map.entries.len(),
        _ => return None,
    };
    Some(Range::fixed(size as u64))
}

fn is_scalar(of: &Type) -> bool {
    match of {
        Type::Optional(inner) => is_scalar(inner),
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => {
            true
        }
        _ => false,
    }
}
