//! A rule, ready to be asked.

use std::sync::Arc;

use flumen_cel::{CompileError, Dialect, Program, Shape, Type};

use crate::{
    field_path,
    schema::{Rule, Schema},
};

#[derive(Debug)]
pub(crate) struct CompiledRule {
    pub source: Rule,
    pub program: Program,
    pub message: Option<Program>,
    /// Where the problem is told, below the value that the rule is about.
    pub field_path: String,
    /// Whether the rule compares with the value before an update.
    pub uses_old: bool,
}

/// Why a rule cannot be used.
pub(crate) enum RuleProblem {
    Rule(String),
    Message(Box<CompiledRule>, String),
}

/// Compiles a rule over a value of a shape; `None` for one that says nothing.
pub(crate) fn compile(
    rule: &Rule,
    schema: &Schema,
    shape: &Arc<Shape>,
) -> Option<Result<CompiledRule, RuleProblem>> {
    if rule.rule.trim().is_empty() {
        return None;
    }
    let own = shape.type_of();
    let old = match rule.optional_old_self {
        Some(true) => Type::optional(own.clone()),
        _ => own.clone(),
    };
    let variables = [("self", own), ("oldSelf", old)];
    Some(compile_with(rule, schema, &variables))
}

fn compile_with(
    rule: &Rule,
    schema: &Schema,
    variables: &[(&str, Type)],
) -> Result<CompiledRule, RuleProblem> {
    let program = read(&rule.rule, variables).map_err(|it| RuleProblem::Rule(it.told("")))?;
    if *program.result() != Type::Bool {
        let problem = "cel expression must evaluate to a bool";
        return Err(RuleProblem::Rule(problem.to_owned()));
    }
    let uses_old = program.mentions("oldSelf");
    let mut compiled = CompiledRule {
        source: rule.clone(),
        program,
        message: None,
        field_path: String::new(),
        uses_old,
    };
    if !rule.message_expression.is_empty() {
        match read(&rule.message_expression, variables) {
            Ok(program) if *program.result() == Type::Text => compiled.message = Some(program),
            Ok(_) => {
                let problem = "messageExpression must evaluate to a string".to_owned();
                return Err(RuleProblem::Message(Box::new(compiled), problem));
            }
            Err(problem) => {
                let problem = problem.told("messageExpression ");
                return Err(RuleProblem::Message(Box::new(compiled), problem));
            }
        }
    }
    if !rule.field_path.is_empty()
        && let Ok(found) = field_path::parse(&rule.field_path, schema, true)
    {
        compiled.field_path = found.text;
    }
    Ok(compiled)
}

struct Unreadable(CompileError);

impl Unreadable {
    fn told(&self, what: &str) -> String {
        match &self.0 {
            CompileError::Constant(problem) => format!("{what}instantiation failed: {problem}"),
            problem => format!("{what}compilation failed: {problem}"),
        }
    }
}

fn read(source: &str, variables: &[(&str, Type)]) -> Result<Program, Unreadable> {
    let program = Program::compile(source, variables, Dialect::Kubernetes).map_err(Unreadable)?;
    program.check_constants().map_err(Unreadable)?;
    Ok(program)
}
