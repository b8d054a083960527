//! Types of an expression before it is evaluated.

mod literals;
mod macros;

use std::collections::BTreeMap;

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr,
    operators,
};

use crate::{
    Dialect, functions,
    macros::{Pairs, SortBy},
    overloads::{self, Overload},
    places::Places,
    program::children,
    shape::RESERVED_WORDS,
    types::{Known, Type, is_less_specific},
};

/// What is wrong with an expression, and where.
pub(crate) struct Mistake {
    pub line: usize,
    pub column: usize,
    pub text: String,
}

/// What was found out about an expression.
#[derive(Debug)]
pub(crate) struct Checked {
    pub result: Type,
    /// The type of each part.
    pub types: BTreeMap<u64, Type>,
    /// The ways in which each call may be meant.
    pub overloads: BTreeMap<u64, Vec<&'static Overload>>,
}

/// The types in an expression over some variables.
pub(crate) fn check(
    tree: &IdedExpr,
    source: &str,
    variables: &[(&str, Type)],
    dialect: Dialect,
) -> Result<Checked, Vec<Mistake>> {
    let mut checker = Checker {
        scopes: variables.to_vec(),
        known: Known::default(),
        mistakes: Vec::new(),
        collections: Vec::new(),
        places: Places::of(tree, source),
        dialect,
        types: BTreeMap::new(),
        overloads: BTreeMap::new(),
    };
    let found = checker.expr(tree);
    let result = checker.known.settled(&found);
    if checker.mistakes.is_empty() {
        if dialect == Dialect::Kubernetes {
            checker.check_literals(tree);
        }
        checker.check_collections();
    }
    if checker.mistakes.is_empty() {
        let Checker { known, types, overloads, .. } = checker;
        let types = types.into_iter().map(|(id, of)| (id, known.settled(&of))).collect();
        return Ok(Checked { result, types, overloads });
    }
    checker.mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
    Err(checker.mistakes)
}

/// Names that are words of the language, or will be.
pub(crate) fn reserved_names(tree: &IdedExpr, source: &str) -> Vec<Mistake> {
    let mut found = Vec::new();
    let mut pending = vec![tree];
    while let Some(expr) = pending.pop() {
        match &expr.expr {
            Expr::Ident(name) if RESERVED_WORDS.contains(&name.as_str()) => {
                found.push((expr.id, name));
            }
            _ => pending.extend(children(expr)),
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let places = Places::of(tree, source);
    let mistakes = found.into_iter().map(|(id, name)| {
        let (line, column) = places.line_and_column(id);
        Mistake { line, column, text: format!("reserved identifier: {name}") }
    });
    mistakes.collect()
}

struct Checker<'a> {
    scopes: Vec<(&'a str, Type)>,
    known: Known,
    mistakes: Vec<Mistake>,
    /// The elements of each literal list, and keys and values of each mapping: they must be alike, and
    /// that is known last.
    collections: Vec<Vec<(u64, Type)>>,
    places: Places<'a>,
    dialect: Dialect,
    types: BTreeMap<u64, Type>,
    overloads: BTreeMap<u64, Vec<&'static Overload>>,
}

impl<'a> Checker<'a> {
    fn mistake(&mut self, id: u64, text: String) -> Type {
        let (line, column) = self.places.line_and_column(id);
        self.mistakes.push(Mistake { line, column, text });
        Type::Error
    }

    fn undeclared(&mut self, id: u64, name: &str) -> Type {
        self.mistake(id, format!("undeclared reference to '{name}' (in container '')"))
    }

    fn mismatch(&mut self, id: u64, expected: &Type, found: &Type) -> Type {
        self.mistake(id, format!("expected type '{expected}' but found '{found}'"))
    }

    fn expr(&mut self, expr: &'a IdedExpr) -> Type {
        let found = self.type_of(expr);
        self.types.insert(expr.id, found.clone());
        found
    }

    fn type_of(&mut self, expr: &'a IdedExpr) -> Type {
        match &expr.expr {
            Expr::Literal(literal) => type_of(literal),
            Expr::Ident(name) => {
                let name = name.trim_start_matches('.');
                self.named(name).unwrap_or_else(|| self.undeclared(expr.id, name))
            }
            Expr::Select(select) => {
                if let Some(of) = qualified(expr).and_then(|name| self.variable(&name)) {
                    return of;
                }
                if let Some(named) = qualified(expr).and_then(|name| overloads::type_named(&name)) {
                    return Type::Named(Box::new(named));
                }
                let operand = self.expr(&select.operand);
                let field = self.field(expr.id, &operand, &select.field, false);
                if select.test { Type::Bool } else { field }
            }
            Expr::Call(call) => self.call(expr.id, call),
            Expr::List(list) => self.list(list),
            Expr::Map(map) => self.map(map),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Struct(message) => self.undeclared(expr.id, &message.type_name),
            Expr::Unspecified => Type::Error,
        }
    }

    fn variable(&self, name: &str) -> Option<Type> {
        self.scopes.iter().rev().find(|(bound, _)| *bound == name).map(|(_, of)| of.clone())
    }

    fn named(&self, name: &str) -> Option<Type> {
        self.variable(name)
            .or_else(|| overloads::type_named(name).map(|named| Type::Named(Box::new(named))))
    }

    fn field(&mut self, id: u64, operand: &Type, name: &str, optional: bool) -> Type {
        let (target, was_optional) = match self.known.resolved(operand) {
            Type::Optional(inner) => (*inner, true),
            other => (other, false),
        };
        let field = match &target {
            Type::Map(_, value) => value.as_ref().clone(),
            Type::Object(object) => match object.0.field(name) {
                Some(field) => field.shape.type_of(),
                None => self.mistake(id, format!("undefined field '{name}'")),
            },
            Type::Record(record) => match record.fields.get(name) {
                Some(field) => field.clone(),
                None => self.mistake(id, format!("undefined field '{name}'")),
            },
            Type::Open(_) => {
                self.known.assign([(&Type::Dyn, &target)]);
                Type::Dyn
            }
            other if other.is_dyn_or_error() => Type::Dyn,
            Type::Library(name) if name.starts_with("kubernetes.authorization.") => {
                self.mistake(id, format!("unexpected failed resolution of '{name}'"))
            }
            other => {
                self.mistake(id, format!("type '{other}' does not support field selection"));
                Type::Dyn
            }
        };
        if optional || was_optional { Type::optional(field) } else { field }
    }

    fn call(&mut self, id: u64, call: &'a CallExpr) -> Type {
        if let Some(pairs) = Pairs::of(call, self.dialect) {
            return self.pairs(id, &pairs);
        }
        if let Some(sort) = SortBy::of(call, self.dialect) {
            return self.sort_by(&sort);
        }
        match (call.func_name.as_str(), call.target.as_deref(), call.args.as_slice()) {
            (operators::OPT_SELECT, None, [operand, field]) => {
                let operand = self.expr(operand);
                let name = match &field.expr {
                    Expr::Literal(LiteralValue::String(name)) => name.inner(),
                    _ => "",
                };
                self.field(id, &operand, name, true)
            }
            (operators::LOGICAL_AND | operators::LOGICAL_OR, None, args) => {
                let mut result = Type::Bool;
                for arg in args {
                    let found = self.expr(arg);
                    if !self.known.assign([(&found, &Type::Bool)]) {
                        result = self.mismatch(arg.id, &Type::Bool, &found);
                    }
                }
                result
            }
            (name @ ("optMap" | "optFlatMap"), Some(target), [variable, body]) => {
                self.map_optional(name, target, variable, body)
            }
            (name, Some(IdedExpr { expr: Expr::Ident(prefix), .. }), args)
                if functions::is_library(prefix, name) =>
            {
                let args: Vec<_> = args.iter().map(|arg| self.expr(arg)).collect();
                self.resolve(id, &format!("{prefix}.{name}"), &args, false)
            }
            (name, target, args) => {
                let args = target.into_iter().chain(args);
                let types: Vec<_> = args.map(|arg| self.expr(arg)).collect();
                self.resolve(id, name, &types, target.is_some())
            }
        }
    }

    /// What a function yields for arguments of some types.
    fn resolve(&mut self, id: u64, name: &str, args: &[Type], is_method: bool) -> Type {
        let Some(overloads) = overloads::of(name, self.dialect) else {
            return self.undeclared(id, name);
        };
        let mut result: Option<Type> = None;
        for overload in overloads {
            if overload.is_method != is_method {
                continue;
            }
            let (parameters, yields) = overload.instantiate(&mut self.known);
            if parameters.len() == args.len() && self.known.assign(args.iter().zip(&parameters)) {
                let yields = self.known.resolved(&yields);
                self.overloads.entry(id).or_default().push(overload);
                result = Some(match result {
                    Some(other) if other != yields => Type::Dyn,
                    _ => yields,
                });
            }
        }
        result.unwrap_or_else(|| {
            let args: Vec<_> = args.iter().map(|arg| self.known.settled(arg).to_string()).collect();
            let (target, rest) = match args.split_first() {
                Some((target, rest)) if is_method => (format!("{target}."), rest),
                _ => (String::new(), args.as_slice()),
            };
            let applied = format!("{target}({})", rest.join(", "));
            self.mistake(
                id,
                format!("found no matching overload for '{name}' applied to '{applied}'"),
            )
        })
    }

    fn map_optional(
        &mut self,
        name: &str,
        target: &'a IdedExpr,
        variable: &'a IdedExpr,
        body: &'a IdedExpr,
    ) -> Type {
        let found = self.expr(target);
        let inner = match self.known.resolved(&found) {
            Type::Optional(inner) => *inner,
            other if other.is_dyn_or_error() => Type::Dyn,
            other => {
                let text =
                    format!("found no matching overload for 'hasValue' applied to '{other}.()'");
                return self.mistake(target.id, text);
            }
        };
        let Expr::Ident(bound) = &variable.expr else {
            return self.mistake(variable.id, "argument must be a simple name".to_owned());
        };
        self.scopes.push((bound, inner));
        let body = self.expr(body);
        self.scopes.pop();
        if name == "optMap" { Type::optional(body) } else { body }
    }

    fn list(&mut self, list: &'a ListExpr) -> Type {
        let mut elements = Vec::new();
        for (place, element) in list.elements.iter().enumerate() {
            let found = self.expr(element);
            let optional = list.optional_indices.contains(&place);
            elements.push((element.id, self.unwrapped(element.id, found, optional)));
        }
        Type::list(self.joined(elements))
    }

    fn map(&mut self, map: &'a MapExpr) -> Type {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
            keys.push((entry.key.id, self.expr(&entry.key)));
            let found = self.expr(&entry.value);
            values.push((entry.value.id, self.unwrapped(entry.value.id, found, entry.optional)));
        }
        Type::map(self.joined(keys), self.joined(values))
    }

    fn unwrapped(&mut self, id: u64, found: Type, optional: bool) -> Type {
        match found {
            Type::Optional(inner) if optional => *inner,
            other if optional && other != Type::Dyn => {
                self.mismatch(id, &Type::optional(other.clone()), &other);
                other
            }
            other => other,
        }
    }

    /// The type of the elements of a literal collection.
    fn joined(&mut self, elements: Vec<(u64, Type)>) -> Type {
        let mut joined: Option<Type> = None;
        for (_, found) in &elements {
            joined = Some(match joined {
                None => found.clone(),
                Some(before) if self.known.assign([(&before, found)]) => {
                    if is_less_specific(&before, found) { before } else { found.clone() }
                }
                Some(_) => Type::Dyn,
            });
        }
        self.collections.push(elements);
        joined.unwrap_or_else(|| self.known.open())
    }

    /// Elements must be of one type, and that something may be anything makes it alike to nothing else.
    fn check_collections(&mut self) {
        for elements in std::mem::take(&mut self.collections) {
            let mut types = elements.iter().map(|(id, of)| (*id, self.known.settled(of)));
            let Some((_, first)) = types.next() else { continue };
            if let Some((id, other)) = types.find(|(_, of)| *of != first) {
                self.mismatch(id, &first, &other);
            }
        }
    }

    fn comprehension(&mut self, it: &'a ComprehensionExpr) -> Type {
        let range = self.expr(&it.iter_range);
        let accumulated = self.expr(&it.accu_init);
        let element = match self.known.resolved(&range) {
            Type::List(element) => *element,
            Type::Map(key, _) => *key,
            Type::Open(_) => {
                self.known.assign([(&Type::Dyn, &range)]);
                Type::Dyn
            }
            other if other.is_dyn_or_error() => Type::Dyn,
            other => {
                let text = format!(
                    "expression of type '{other}' cannot be range of a comprehension \
                     (must be list, map, or dynamic)"
                );
                self.mistake(it.iter_range.id, text)
            }
        };
        let depth = self.scopes.len();
        self.scopes.push((&it.accu_var, accumulated.clone()));
        self.scopes.push((&it.iter_var, element));
        for (part, expected) in [(&it.loop_cond, &Type::Bool), (&it.loop_step, &accumulated)] {
            let found = self.expr(part);
            if !self.known.assign([(expected, &found)]) {
                self.mismatch(part.id, expected, &found);
            }
        }
        self.scopes.truncate(depth + 1);
        let result = self.expr(&it.result);
        self.scopes.truncate(depth);
        self.known.resolved(&result)
    }
}

fn type_of(literal: &LiteralValue) -> Type {
    match literal {
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::UInt(_) => Type::Uint,
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::String(_) => Type::Text,
        LiteralValue::Bytes(_) => Type::Bytes,
        LiteralValue::Null => Type::Null,
    }
}

/// `a.b.c`, if an expression is nothing but that.
pub(crate) fn qualified(expr: &IdedExpr) -> Option<String> {
    match &expr.expr {
        Expr::Ident(name) => Some(name.trim_start_matches('.').to_owned()),
        Expr::Select(select) if !select.test => {
            Some(format!("{}.{}", qualified(&select.operand)?, select.field))
        }
        _ => None,
    }
}
