//! Types of macros over pairs and of sorting by a key.

use cel::common::ast::IdedExpr;

use super::Checker;
use crate::{
    macros::{PairMacro, Pairs, SortBy},
    types::Type,
};

impl<'a> Checker<'a> {
    pub(super) fn pairs(&mut self, id: u64, it: &Pairs<'a>) -> Type {
        let (key, value) = self.pair_types(it.range);
        let depth = self.scopes.len();
        self.scopes.push((it.key, key.clone()));
        self.scopes.push((it.value, value));
        if let Some(filter) = it.filter {
            self.demand_bool(filter);
        }
        let result = match it.what {
            PairMacro::All | PairMacro::Exists | PairMacro::ExistsOne => {
                self.demand_bool(it.body);
                Type::Bool
            }
            PairMacro::List => Type::list(self.expr(it.body)),
            PairMacro::Map => Type::map(key, self.expr(it.body)),
            PairMacro::Entries => {
                let found = self.expr(it.body);
                let expected = Type::map(self.known.open(), self.known.open());
                if self.known.assign([(&found, &expected)]) {
                    self.known.resolved(&expected)
                } else {
                    let applied = format!("(map(dyn, dyn), {found})");
                    let what = "found no matching overload for 'cel.@mapInsert' applied to";
                    self.mistake(id, format!("{what} '{applied}'"))
                }
            }
        };
        self.scopes.truncate(depth);
        result
    }

    fn demand_bool(&mut self, expr: &'a IdedExpr) {
        let found = self.expr(expr);
        if !self.known.assign([(&found, &Type::Bool)]) {
            self.mismatch(expr.id, &Type::Bool, &found);
        }
    }

    /// What the two names of a comprehension stand for.
    fn pair_types(&mut self, range: &'a IdedExpr) -> (Type, Type) {
        let found = self.expr(range);
        match self.known.resolved(&found) {
            Type::List(element) => (Type::Int, *element),
            Type::Map(key, value) => (*key, *value),
            Type::Open(_) => {
                self.known.assign([(&Type::Dyn, &found)]);
                (Type::Dyn, Type::Dyn)
            }
            other if other.is_dyn_or_error() => (Type::Dyn, Type::Dyn),
            other => {
                let text = format!(
                    "expression of type '{other}' cannot be range of a comprehension \
                     (must be list, map, or dynamic)"
                );
                (self.mistake(range.id, text), Type::Dyn)
            }
        }
    }

    pub(super) fn sort_by(&mut self, it: &SortBy<'a>) -> Type {
        let (_, element) = self.pair_types(it.list);
        self.scopes.push((it.element, element.clone()));
        let key = self.expr(it.key);
        self.scopes.pop();
        let key = self.known.resolved(&key);
        let is_ordered = matches!(
            key,
            Type::Bool
                | Type::Bytes
                | Type::Double
                | Type::Duration
                | Type::Int
                | Type::Text
                | Type::Timestamp
                | Type::Uint
        );
        if !is_ordered && !key.is_dyn_or_error() {
            let text = format!(
                "list({element}).sortBy can only be used with comparable keys, not '{key}'"
            );
            return self.mistake(it.key.id, text);
        }
        Type::list(element)
    }
}
