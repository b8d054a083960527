//! Constant arguments that no evaluation could use.

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue};

use super::Checker;
use crate::{Budget, Dialect, eval::constant, functions, program::children, strings};

impl Checker<'_> {
    /// Patterns, times and durations that are written in the expression and cannot be read.
    pub(super) fn check_literals(&mut self, expr: &IdedExpr) {
        if let Expr::Call(CallExpr { func_name, args, .. }) = &expr.expr
            && let Some(IdedExpr { id, expr: Expr::Literal(literal) }) = args.first()
            && !is_readable(func_name, literal)
        {
            self.mistake(*id, format!("invalid {func_name} argument"));
        }
        for child in children(expr) {
            self.check_literals(child);
        }
    }
}

/// Whether a function can read its first argument.
fn is_readable(function: &str, literal: &LiteralValue) -> bool {
    match (function, literal) {
        ("matches", LiteralValue::String(source)) => strings::pattern(source.inner()).is_ok(),
        ("duration" | "timestamp", literal) => {
            let budget = &mut Budget::default();
            functions::apply(function, &[constant(literal)], Dialect::Kubernetes, budget).is_ok()
        }
        _ => true,
    }
}
