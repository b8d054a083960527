//! Questions about objects in CEL, with the functions and the words of Flux.

use flumen_cel::{Budget, Dialect, Program, TooLarge, Type, Value};
use flumen_yaml::Node;

/// A question that was compiled once and can be asked often.
#[derive(Debug)]
pub(crate) struct Expression {
    source: String,
    program: Program,
}

/// Why an expression can never be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error("failed to parse the CEL expression '{expression}': {issues}")]
    Parse { expression: String, issues: String },
    #[error("failed to create CEL program: {0}")]
    Constant(String),
    #[error("CEL expression output type mismatch: expected bool, got {0}")]
    NotBool(String),
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// Why an expression has no answer for an object.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    #[error("failed to evaluate the CEL expression '{expression}': {problem}")]
    Failed { expression: String, problem: String },
    #[error("failed to evaluate CEL expression as boolean: '{expression}'")]
    NotBool { expression: String },
}

impl Expression {
    /// Parses an expression. Which variables and functions exist shows when it is evaluated.
    pub(crate) fn parse(source: &str) -> Result<Self, CompileError> {
        let program =
            Program::parse(source, Dialect::Flux).map_err(|error| unusable(source, error))?;
        Ok(Self { source: source.to_owned(), program })
    }

    /// Parses an expression and checks that it is a question about some objects: only they may be named,
    /// and the answer must be yes or no whatever is in them.
    pub(crate) fn check(source: &str, objects: &[&str]) -> Result<Self, CompileError> {
        let object = Type::map(Type::Text, Type::Dyn);
        let variables: Vec<_> = objects.iter().map(|name| (*name, object.clone())).collect();
        let program = Program::compile(source, &variables, Dialect::Flux)
            .map_err(|error| unusable(source, error))?;
        if *program.result() != Type::Bool {
            return Err(CompileError::NotBool(program.result().declared()));
        }
        program.check_constants().map_err(|error| unusable(source, error))?;
        Ok(Self { source: source.to_owned(), program })
    }

    /// The answer to a question, with the objects that it may ask about.
    pub(crate) fn is_true(&self, objects: &[(&str, &Node)]) -> Result<bool, EvaluationError> {
        let variables: Vec<_> =
            objects.iter().map(|(name, node)| (*name, Value::from(*node))).collect();
        match self.program.evaluate(&variables, &mut Budget::default()) {
            Ok(Value::Bool(answer)) => Ok(answer),
            Ok(_) => Err(EvaluationError::NotBool { expression: self.source.clone() }),
            Err(fault) => Err(EvaluationError::Failed {
                expression: self.source.clone(),
                problem: fault.to_string(),
            }),
        }
    }
}

fn unusable(source: &str, error: flumen_cel::CompileError) -> CompileError {
    match error {
        flumen_cel::CompileError::Issues(issues) => {
            CompileError::Parse { expression: source.to_owned(), issues }
        }
        flumen_cel::CompileError::Constant(problem) => CompileError::Constant(problem),
        flumen_cel::CompileError::TooLarge(error) => error.into(),
    }
}
