//! Where in its text each part of an expression stands.
//!
//! The parser tells places only of what it cannot parse. A tree that is walked in the order of the text
//! meets the words and signs of the text in their order, so that each part can be given the place of
//! its own sign.

use std::collections::BTreeMap;

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators,
};

use crate::lexer::{Token, tokens};

pub(crate) struct Places<'a> {
    source: &'a str,
    starts: BTreeMap<u64, usize>,
}

impl<'a> Places<'a> {
    pub(crate) fn of(tree: &IdedExpr, source: &'a str) -> Self {
        let mut walk =
            Walk { rest: tokens(source).collect::<Vec<_>>().into_iter(), starts: BTreeMap::new() };
        walk.expr(tree);
        Self { source, starts: walk.starts }
    }

    /// Line and column, both starting at 1, the column in characters.
    pub(crate) fn line_and_column(&self, id: u64) -> (usize, usize) {
        let start = self.starts.get(&id).copied().unwrap_or(0);
        let before = &self.source[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}

struct Walk<'a> {
    rest: std::vec::IntoIter<Token<'a>>,
    starts: BTreeMap<u64, usize>,
}

impl Walk<'_> {
    /// Moves on behind the next token that is wanted, and gives the part its place.
    fn find(&mut self, id: u64, wanted: impl Fn(&str) -> bool) {
        if let Some(token) = self.rest.find(|token| wanted(token.text)) {
            self.starts.insert(id, token.start);
        }
    }

    fn sign(&mut self, id: u64, sign: &str) {
        self.find(id, |text| text == sign);
    }

    fn exprs<'b>(&mut self, exprs: impl IntoIterator<Item = &'b IdedExpr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &IdedExpr) {
        let id = expr.id;
        match &expr.expr {
            Expr::Ident(name) => self.sign(id, name.trim_start_matches('.')),
            Expr::Literal(literal) => self.literal(id, literal),
            Expr::Select(select) => {
                // `has(a.b)` is a macro: it has the place of its bracket.
                if select.test {
                    self.sign(id, "has");
                    self.sign(id, "(");
                    self.expr(&select.operand);
                } else {
                    self.expr(&select.operand);
                    self.sign(id, ".");
                }
                self.rest.find(|token| token.text == select.field);
            }
            Expr::List(list) => {
                self.sign(id, "[");
                self.exprs(&list.elements);
            }
            Expr::Map(map) => {
                self.sign(id, "{");
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.exprs([&entry.key, &entry.value]);
                    }
                }
            }
            Expr::Struct(message) => {
                self.sign(id, "{");
                for entry in &message.entries {
                    if let EntryExpr::StructField(field) = &entry.expr {
                        self.expr(&field.value);
                    }
                }
            }
            Expr::Call(call) => self.call(id, call),
            Expr::Comprehension(comprehension) => self.comprehension(id, comprehension),
            Expr::Unspecified => {}
        }
    }

    /// A number has the place of its sign.
    fn literal(&mut self, id: u64, literal: &LiteralValue) {
        let negative = match literal {
            LiteralValue::Int(value) => value.inner().is_negative(),
            LiteralValue::Double(value) => value.inner().is_sign_negative(),
            _ => false,
        };
        if negative {
            self.sign(id, "-");
            self.rest.find(|token| is_literal(literal, token.text));
        } else {
            self.find(id, |text| is_literal(literal, text));
        }
    }

    fn call(&mut self, id: u64, call: &CallExpr) {
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::CONDITIONAL, [condition, yes, no]) => {
                self.expr(condition);
                self.sign(id, "?");
                self.exprs([yes, no]);
            }
            (operators::INDEX | operators::OPT_INDEX, [operand, key]) => {
                self.expr(operand);
                self.sign(id, "[");
                self.expr(key);
            }
            (operators::OPT_SELECT, [operand, _]) => {
                self.expr(operand);
                self.sign(id, ".");
                self.rest.find(|token| token.text == "?");
            }
            (name, args) => match (sign_of(name), args) {
                (Some(sign), [left, right]) => {
                    self.expr(left);
                    self.sign(id, sign);
                    self.expr(right);
                }
                (Some(sign), args) => {
                    self.sign(id, sign);
                    self.exprs(args);
                }
                (None, args) => {
                    self.exprs(call.target.as_deref());
                    self.sign(id, name.trim_start_matches('.'));
                    self.sign(id, "(");
                    self.exprs(args);
                }
            },
        }
    }

    /// What a macro has been expanded to has the place of the macro's bracket, except for what the
    /// user wrote inside.
    fn comprehension(&mut self, id: u64, it: &ComprehensionExpr) {
        self.expr(&it.iter_range);
        self.sign(id, ".");
        let name = self.rest.next().map(|token| token.text);
        self.sign(id, "(");
        for part in [&it.accu_init, &it.loop_cond, &it.result] {
            self.place_like(part.id, id);
        }
        self.rest.find(|token| token.text == it.iter_var);
        self.step(&it.loop_step, id, name == Some("filter"));
    }

    fn place_like(&mut self, id: u64, like: u64) {
        if let Some(start) = self.starts.get(&like).copied() {
            self.starts.insert(id, start);
        }
    }

    fn step(&mut self, step: &IdedExpr, like: u64, is_filter: bool) {
        self.place_like(step.id, like);
        let Expr::Call(call) = &step.expr else { return };
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::CONDITIONAL, [condition, yes, _]) => {
                self.expr(condition);
                self.step(yes, like, is_filter);
            }
            (operators::ADD, [_, IdedExpr { expr: Expr::List(list), id }]) => {
                self.place_like(*id, like);
                if !is_filter {
                    self.exprs(&list.elements);
                }
            }
            (operators::LOGICAL_AND | operators::LOGICAL_OR, [_, asked]) => self.expr(asked),
            _ => {}
        }
    }
}

fn sign_of(operator: &str) -> Option<&str> {
    match operator {
        operators::IN => Some("in"),
        operators::NEGATE => Some("-"),
        operators::LOGICAL_NOT => Some("!"),
        _ => operator.strip_prefix('_')?.strip_suffix('_'),
    }
}

fn is_literal(literal: &LiteralValue, text: &str) -> bool {
    match literal {
        LiteralValue::Boolean(value) => text == if *value.inner() { "true" } else { "false" },
        LiteralValue::Null => text == "null",
        LiteralValue::String(_) | LiteralValue::Bytes(_) => text.contains(['\'', '"']),
        _ => text.starts_with(|c: char| c.is_ascii_digit() || c == '.') && text != ".",
    }
}
