//! An expression from its text to its value.

use std::{collections::BTreeSet, fmt::Write};

use cel::{
    common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue},
    parser::{ParseErrors, Parser},
};

use crate::{
    Budget, Fault,
    check::{self, Checked, Mistake},
    convert, estimate,
    eval::{Evaluation, constant},
    functions, limits,
    shape::Shape,
    strings,
    types::Type,
    value::Value,
};

/// An expression that was compiled once and can be evaluated often.
#[derive(Debug)]
pub struct Program {
    tree: IdedExpr,
    dialect: Dialect,
    /// What the checker found, if it was asked.
    checked: Option<Checked>,
}

/// Whose functions an expression may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Flux,
    Kubernetes,
}

/// Why an expression can never be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// What is wrong and where, in the form of cel-go.
    #[error("{0}")]
    Issues(String),
    /// A constant that no evaluation could use.
    #[error("{0}")]
    Constant(String),
    #[error(transparent)]
    TooLarge(#[from] limits::TooLarge),
}

impl Program {
    /// Parses an expression. Which variables and functions exist shows when it is evaluated.
    pub fn parse(source: &str, dialect: Dialect) -> Result<Self, CompileError> {
        let program = Self::read(source, dialect)?;
        program.check_constants()?;
        Ok(program)
    }

    /// Parses an expression and finds its type. Only the given variables may be named.
    pub fn compile(
        source: &str,
        variables: &[(&str, Type)],
        dialect: Dialect,
    ) -> Result<Self, CompileError> {
        let mut program = Self::read(source, dialect)?;
        let checked = check::check(&program.tree, source, variables, dialect)
            .map_err(|mistakes| not_compiled(source, &mistakes))?;
        program.checked = Some(checked);
        Ok(program)
    }

    /// The type of the value, as far as it was checked.
    pub fn result(&self) -> &Type {
        self.checked.as_ref().map_or(&Type::Dyn, |checked| &checked.result)
    }

    /// Whether the expression names a variable.
    pub fn mentions(&self, variable: &str) -> bool {
        fn mentions(expr: &IdedExpr, variable: &str) -> bool {
            matches!(&expr.expr, Expr::Ident(name) if name == variable)
                || children(expr).into_iter().any(|child| mentions(child, variable))
        }
        mentions(&self.tree, variable)
    }

    /// The fields of a variable that the expression names.
    pub fn fields_of(&self, variable: &str) -> BTreeSet<&str> {
        fn collect<'a>(expr: &'a IdedExpr, variable: &str, found: &mut BTreeSet<&'a str>) {
            if let Expr::Select(select) = &expr.expr
                && matches!(&select.operand.expr, Expr::Ident(name) if name == variable)
            {
                found.insert(&select.field);
            }
            for child in children(expr) {
                collect(child, variable, found);
            }
        }
        let mut found = BTreeSet::new();
        collect(&self.tree, variable, &mut found);
        found
    }

    /// What an evaluation costs at most, with a variable of the given shape.
    pub fn estimate(&self, shape: &Shape) -> u64 {
        self.checked.as_ref().map_or(u64::MAX, |checked| estimate::cost(&self.tree, checked, shape))
    }

    fn read(source: &str, dialect: Dialect) -> Result<Self, CompileError> {
        limits::check(source)?;
        // The limits above take the place of the parser's own, behind which it does not stand firm.
        let parser = Parser::new().max_recursion_depth(u16::MAX).enable_optional_syntax(true);
        let tree =
            parser.parse(source).map_err(|errors| not_compiled(source, &mistakes(&errors)))?;
        limits::check_depth(&tree)?;
        let reserved = check::reserved_names(&tree, source);
        if !reserved.is_empty() {
            return Err(not_compiled(source, &reserved));
        }
        Ok(Self { tree, dialect, checked: None })
    }

    /// Finds mistakes that need no object: patterns and conversions of constants.
    pub fn check_constants(&self) -> Result<(), CompileError> {
        check_constants(&self.tree).map_err(|fault| CompileError::Constant(fault.to_string()))
    }

    /// The value of the expression. What it costs is taken from the budget.
    pub fn evaluate<'a>(
        &'a self,
        variables: &'a [(&'a str, Value<'a>)],
        budget: &mut Budget,
    ) -> Result<Value<'a>, Fault> {
        Evaluation::new(variables, self.dialect, budget).value(&self.tree)
    }
}

/// The mistakes that the parser found, without its remarks on how it went on after them.
fn mistakes(errors: &ParseErrors) -> Vec<Mistake> {
    let genuine = errors.errors.iter().filter(|error| !error.msg.starts_with("Incomplete `"));
    let mistakes = genuine.map(|error| {
        let (line, column) = error.pos;
        let (line, column) = (line.unsigned_abs(), column.unsigned_abs());
        Mistake { line, column, text: error.msg.clone() }
    });
    mistakes.collect()
}

fn not_compiled(source: &str, mistakes: &[Mistake]) -> CompileError {
    let issues: Vec<_> = mistakes.iter().map(|mistake| issue(source, mistake)).collect();
    CompileError::Issues(issues.join("\n"))
}

/// A mistake with its place, pointed at.
fn issue(source: &str, Mistake { line, column, text }: &Mistake) -> String {
    let mut issue = format!("ERROR: <input>:{line}:{column}: {text}");
    if let Some(text) = source.lines().nth(line.saturating_sub(1)) {
        // Below characters that may be wide stand wide dots.
        let before = text.chars().chain(std::iter::repeat(' ')).take(column.saturating_sub(1));
        let dots: String = before.map(|c| if c.is_ascii() { '.' } else { '．' }).collect();
        let _ = write!(issue, "\n | {text}\n | {dots}^");
    }
    issue
}

/// Mistakes in constants that are found without an object: patterns and conversions.
fn check_constants(expr: &IdedExpr) -> Result<(), Fault> {
    if let Expr::Call(CallExpr { func_name, target, args }) = &expr.expr {
        match (func_name.as_str(), target, args.as_slice()) {
            (
                "matches",
                _,
                [.., IdedExpr { expr: Expr::Literal(LiteralValue::String(it)), .. }],
            ) => {
                strings::pattern(it.inner())?;
            }
            (name, None, [IdedExpr { expr: Expr::Literal(literal), .. }])
                if convert::is_conversion(name) =>
            {
                let budget = &mut Budget::default();
                functions::apply(name, &[constant(literal)], Dialect::Flux, budget)?;
            }
            _ => {}
        }
    }
    children(expr).into_iter().try_for_each(check_constants)
}

/// The expressions of which an expression is made.
pub(crate) fn children(expr: &IdedExpr) -> Vec<&IdedExpr> {
    match &expr.expr {
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::Select(select) => vec![&select.operand],
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map.entries.iter().flat_map(|entry| parts(&entry.expr)).collect(),
        Expr::Struct(message) => {
            message.entries.iter().flat_map(|entry| parts(&entry.expr)).collect()
        }
        Expr::Comprehension(it) => {
            vec![&it.iter_range, &it.accu_init, &it.loop_cond, &it.loop_step, &it.result]
        }
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => Vec::new(),
    }
}

fn parts(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
        EntryExpr::StructField(field) => vec![&field.value],
    }
}
