//! Evaluation of an expression.

mod macros;

use std::rc::Rc;

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr,
    operators,
};

use crate::{
    Budget, Dialect, Fault, Outcome, check,
    collection::Entries,
    functions,
    macros::{Pairs, SortBy},
    operators::push,
    value::{Value, type_named},
};

/// One evaluation: what names stand for, and what may still be spent.
pub(crate) struct Evaluation<'a, 'b> {
    variables: &'a [(&'a str, Value<'a>)],
    /// Names that comprehensions bind, innermost last. What is accumulated may be a failure that a
    /// later element makes good.
    scopes: Vec<(&'a str, Outcome<'a>)>,
    dialect: Dialect,
    budget: &'b mut Budget,
}

impl<'a, 'b> Evaluation<'a, 'b> {
    pub(crate) fn new(
        variables: &'a [(&'a str, Value<'a>)],
        dialect: Dialect,
        budget: &'b mut Budget,
    ) -> Self {
        Self { variables, scopes: Vec::new(), dialect, budget }
    }

    pub(crate) fn value(&mut self, expr: &'a IdedExpr) -> Outcome<'a> {
        self.budget.spend(1)?;
        match &expr.expr {
            Expr::Literal(literal) => Ok(constant(literal)),
            Expr::Ident(_) | Expr::Select(_) => self.attribute(expr),
            Expr::Call(call) => self.call(expr, call),
            Expr::List(list) => self.list(list),
            Expr::Map(map) => self.map(map),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Struct(message) => {
                Err(Fault::new(format!("unknown type: {}", message.type_name)))
            }
            Expr::Unspecified => Err(Fault::new("unspecified expression")),
        }
    }

    /// A variable or a part of something. If the variable does not exist, its name in the message
    /// includes the fields that were asked for.
    fn attribute(&mut self, expr: &'a IdedExpr) -> Outcome<'a> {
        match &expr.expr {
            Expr::Ident(name) => self.variable(name.trim_start_matches('.')),
            Expr::Select(select) => {
                if let Some(value) = self.dotted(expr) {
                    return Ok(value);
                }
                let operand = match self.attribute(&select.operand) {
                    Err(Fault::Missing(name)) => return missing_part(&name, &select.field),
                    operand => operand?,
                };
                let key = Value::text(select.field.as_str());
                if select.test {
                    self.has(&operand, &key).map(Value::Bool)
                } else {
                    self.part(operand, &key, false)
                }
            }
            Expr::Call(CallExpr { func_name, args, .. }) if is_index(func_name) => {
                let [operand, key] = args.as_slice() else { return Err(Fault::NO_OVERLOAD) };
                let operand = match (self.attribute(operand), &key.expr) {
                    (Err(Fault::Missing(name)), Expr::Literal(LiteralValue::String(key))) => {
                        return missing_part(&name, key.inner());
                    }
                    (operand, _) => operand.map_err(Fault::settled)?,
                };
                let key = self.value(key).map_err(Fault::settled)?;
                self.part(operand, &key, func_name != operators::INDEX)
            }
            _ => self.value(expr).map_err(Fault::settled),
        }
    }

    fn variable(&self, name: &str) -> Outcome<'a> {
        if let Some((_, value)) = self.scopes.iter().rev().find(|(bound, _)| *bound == name) {
            return value.clone()?.fit();
        }
        let variable = self.variables.iter().find(|(variable, _)| *variable == name);
        match variable {
            Some((_, value)) => value.clone().fit(),
            None => {
                type_named(name).map(Value::Type).ok_or_else(|| Fault::Missing(name.to_owned()))
            }
        }
    }

    /// A variable whose name has dots in it.
    fn dotted(&self, expr: &IdedExpr) -> Option<Value<'a>> {
        let mut dotted = self.variables.iter().filter(|(name, _)| name.contains('.')).peekable();
        dotted.peek()?;
        let wanted = check::qualified(expr)?;
        dotted.find(|(name, _)| *name == wanted).map(|(_, value)| value.clone())
    }

    /// A field or an element. From an optional value, or where it is asked for optionally, comes an
    /// optional value.
    fn part(&mut self, operand: Value<'a>, key: &Value<'a>, optional: bool) -> Outcome<'a> {
        if let Value::Optional(inner) = operand {
            return match inner {
                Some(inner) => self.part(inner.as_ref().clone(), key, true),
                None => Ok(Value::Optional(None)),
            };
        }
        match self.find(&operand, key)? {
            Some(value) if optional => Ok(Value::some(value)),
            Some(value) => Ok(value),
            None if optional => Ok(Value::Optional(None)),
            None => {
                let what = if matches!(operand, Value::List(_)) {
                    "index out of bounds"
                } else {
                    "no such key"
                };
                Err(Fault::new(format!("{what}: {}", functions::shown(key))))
            }
        }
    }

    fn find(&mut self, operand: &Value<'a>, key: &Value<'a>) -> Result<Option<Value<'a>>, Fault> {
        let found = match operand {
            Value::Map(map) => map.get(key, self.budget)?,
            Value::List(list) => index(key)?.and_then(|index| list.get(index)),
            _ => None,
        };
        found.map(Value::fit).transpose()
    }

    fn has(&mut self, operand: &Value<'a>, key: &Value<'a>) -> Result<bool, Fault> {
        match operand {
            Value::Optional(Some(inner)) => self.has(inner, key),
            other => Ok(self.find(other, key)?.is_some()),
        }
    }

    fn call(&mut self, expr: &'a IdedExpr, call: &'a CallExpr) -> Outcome<'a> {
        match (call.func_name.as_str(), &call.target, call.args.as_slice()) {
            (name, None, [_, _]) if is_index(name) => self.attribute(expr),
            (operators::LOGICAL_AND, None, [a, b]) => self.both(a, b, false),
            (operators::LOGICAL_OR, None, [a, b]) => self.both(a, b, true),
            (operators::CONDITIONAL, None, [condition, yes, no]) => {
                if self.is_true(condition)? {
                    self.value(yes)
                } else {
                    self.value(no)
                }
            }
            (operators::NOT_STRICTLY_FALSE, None, [value]) => match self.value(value) {
                Err(Fault::Exhausted) => Err(Fault::Exhausted),
                value => Ok(Value::Bool(!matches!(value, Ok(Value::Bool(false))))),
            },
            (name @ ("or" | "orValue"), Some(target), [other]) => match self.value(target)? {
                Value::Optional(None) => self.value(other),
                Value::Optional(Some(value)) if name == "orValue" => Ok(value.as_ref().clone()),
                // What is not optional is there.
                present => Ok(present),
            },
            (name @ ("optMap" | "optFlatMap"), Some(target), [variable, body]) => {
                self.map_optional(target, variable, body, name == "optFlatMap")
            }
            (name, target, args) => {
                if let Some(pairs) = Pairs::of(call, self.dialect) {
                    return self.pairs(&pairs);
                }
                if let Some(sort) = SortBy::of(call, self.dialect) {
                    return self.sort_by(&sort);
                }
                self.function(name, target.as_deref(), args)
            }
        }
    }

    fn function(
        &mut self,
        name: &str,
        target: Option<&'a IdedExpr>,
        args: &'a [IdedExpr],
    ) -> Outcome<'a> {
        let mut values = Vec::with_capacity(args.len() + 1);
        let mut qualified = None;
        match target.map(|target| (&target.expr, target)) {
            Some((Expr::Ident(prefix), _)) if functions::is_library(prefix, name) => {
                qualified = Some(format!("{prefix}.{name}"));
            }
            Some((_, target)) => values.push(self.value(target)?),
            None => {}
        }
        for arg in args {
            values.push(self.value(arg)?);
        }
        let name = qualified.as_deref().unwrap_or(name);
        functions::apply(name, &values, self.dialect, self.budget)
    }

    /// `&&` and `||`: the deciding value decides from either side, whatever befalls the other.
    fn both(&mut self, a: &'a IdedExpr, b: &'a IdedExpr, deciding: bool) -> Outcome<'a> {
        let first = self.is_true(a);
        if matches!(first, Ok(value) if value == deciding) || matches!(first, Err(Fault::Exhausted))
        {
            return first.map(Value::Bool);
        }
        match (first, self.is_true(b)) {
            (_, Err(Fault::Exhausted)) => Err(Fault::Exhausted),
            (_, Ok(value)) if value == deciding => Ok(Value::Bool(deciding)),
            (Err(fault), _) | (_, Err(fault)) => Err(fault),
            (Ok(_), Ok(value)) => Ok(Value::Bool(value)),
        }
    }

    fn is_true(&mut self, expr: &'a IdedExpr) -> Result<bool, Fault> {
        match self.value(expr)? {
            Value::Bool(bool) => Ok(bool),
            _ => Err(Fault::NO_OVERLOAD),
        }
    }

    fn list(&mut self, list: &'a ListExpr) -> Outcome<'a> {
        let mut values = Vec::with_capacity(list.elements.len());
        for (place, element) in list.elements.iter().enumerate() {
            let value = self.value(element)?;
            if list.optional_indices.contains(&place) {
                values.extend(unwrapped(value)?);
            } else {
                values.push(value);
            }
        }
        Ok(Value::list(values))
    }

    fn map(&mut self, map: &'a MapExpr) -> Outcome<'a> {
        let mut entries: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(map.entries.len());
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else { return Err(Fault::NO_OVERLOAD) };
            let key = self.value(&entry.key)?;
            let value = self.value(&entry.value)?;
            let value = if entry.optional { unwrapped(value)? } else { Some(value) };
            let Some(value) = value else { continue };
            let mut same = None;
            for (place, (known, _)) in entries.iter().enumerate() {
                if known.equals(&key, self.budget)? {
                    same = Some(place);
                }
            }
            match same {
                Some(place) => entries[place].1 = value,
                None => entries.push((key, value)),
            }
        }
        Ok(Value::Map(Entries::Made(Rc::new(entries))))
    }

    fn map_optional(
        &mut self,
        target: &'a IdedExpr,
        variable: &'a IdedExpr,
        body: &'a IdedExpr,
        flat: bool,
    ) -> Outcome<'a> {
        let Expr::Ident(name) = &variable.expr else {
            return Err(Fault::new("argument must be a simple name"));
        };
        let inner = match self.value(target)? {
            Value::Optional(Some(inner)) => inner,
            Value::Optional(None) => return Ok(Value::Optional(None)),
            other => return Err(functions::no_overload_of_types("hasValue", &[other])),
        };
        self.scopes.push((name, Ok(inner.as_ref().clone())));
        let value = self.value(body);
        self.scopes.pop();
        if flat { value } else { value.map(Value::some) }
    }

    fn comprehension(&mut self, it: &'a ComprehensionExpr) -> Outcome<'a> {
        let range: Vec<Value<'a>> = match self.value(&it.iter_range)? {
            Value::List(list) => {
                self.budget.spend(list.len() as u64)?;
                list.iter().collect()
            }
            Value::Map(map) => {
                self.budget.spend(map.len() as u64)?;
                map.to_vec().into_iter().map(|(key, _)| key).collect()
            }
            other => {
                let name = functions::go_name(&other);
                return Err(Fault::new(format!("got '{name}', expected iterable type")));
            }
        };
        let mut accumulated = self.value(&it.accu_init);
        let depth = self.scopes.len();
        for item in range {
            self.scopes.truncate(depth);
            self.scopes.push((&it.accu_var, accumulated.clone()));
            self.scopes.push((&it.iter_var, Ok(item)));
            match self.is_true(&it.loop_cond) {
                Ok(true) => {}
                Ok(false) => break,
                Err(fault) => {
                    accumulated = Err(fault);
                    break;
                }
            }
            // Nobody else may hold what is accumulated, so that a list can grow in place.
            self.scopes[depth].1 = Ok(Value::Null);
            accumulated = self.step(&it.loop_step, depth, accumulated);
            if matches!(accumulated, Err(Fault::Exhausted)) {
                break;
            }
        }
        self.scopes.truncate(depth);
        self.scopes.push((&it.accu_var, accumulated));
        let result = self.value(&it.result);
        self.scopes.truncate(depth);
        result
    }

    /// One step of a comprehension. On each way through it, what is accumulated is used once.
    fn step(&mut self, step: &'a IdedExpr, scope: usize, accumulated: Outcome<'a>) -> Outcome<'a> {
        self.budget.spend(1)?;
        let name = self.scopes[scope].0;
        let is_accumulated = |expr: &IdedExpr| matches!(&expr.expr, Expr::Ident(it) if it == name);
        match &step.expr {
            Expr::Ident(_) if is_accumulated(step) => accumulated,
            Expr::Call(CallExpr { func_name, args, .. }) => {
                match (func_name.as_str(), args.as_slice()) {
                    (operators::CONDITIONAL, [condition, yes, no]) => {
                        let branch = if self.is_true(condition)? { yes } else { no };
                        self.step(branch, scope, accumulated)
                    }
                    (operators::ADD, [sum, IdedExpr { expr: Expr::List(list), .. }])
                        if is_accumulated(sum) && list.elements.len() == 1 =>
                    {
                        let value = self.value(&list.elements[0])?;
                        push(accumulated?, value, self.budget)
                    }
                    _ => self.bound_step(step, scope, accumulated),
                }
            }
            _ => self.bound_step(step, scope, accumulated),
        }
    }

    fn bound_step(
        &mut self,
        step: &'a IdedExpr,
        scope: usize,
        accumulated: Outcome<'a>,
    ) -> Outcome<'a> {
        self.scopes[scope].1 = accumulated;
        self.value(step)
    }
}

fn is_index(name: &str) -> bool {
    matches!(name, operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT)
}

fn missing_part<'a>(name: &str, field: &str) -> Outcome<'a> {
    let name = format!("{name}.{field}");
    type_named(&name).map(Value::Type).ok_or(Fault::Missing(name))
}

fn unwrapped(value: Value<'_>) -> Result<Option<Value<'_>>, Fault> {
    match value {
        Value::Optional(inner) => Ok(inner.map(|inner| inner.as_ref().clone())),
        other => Err(Fault::new(format!(
            "cannot initialize optional list element from non-optional value {}",
            functions::shown(&other)
        ))),
    }
}

/// A place in a list; `None` for one that no list has.
fn index(key: &Value<'_>) -> Result<Option<usize>, Fault> {
    match key {
        Value::Int(int) => Ok(usize::try_from(*int).ok()),
        Value::Uint(int) => Ok(usize::try_from(*int).ok()),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is whole; beyond the range it saturates"
        )]
        Value::Double(double) if double.fract() == 0.0 => Ok(usize::try_from(*double as i64).ok()),
        Value::Double(_) => {
            Err(Fault::new(format!("unsupported index value {} in list", functions::shown(key))))
        }
        other => Err(Fault::new(format!("unsupported index type '{}' in list", other.type_name()))),
    }
}

pub(crate) fn constant(literal: &LiteralValue) -> Value<'_> {
    match literal {
        LiteralValue::Boolean(value) => Value::Bool(*value.inner()),
        LiteralValue::Int(value) => Value::Int(*value.inner()),
        LiteralValue::UInt(value) => Value::Uint(*value.inner()),
        LiteralValue::Double(value) => Value::Double(*value.inner()),
        LiteralValue::String(value) => Value::text(value.inner()),
        LiteralValue::Bytes(value) => Value::Bytes(value.inner().into()),
        LiteralValue::Null => Value::Null,
    }
}
