//! Whether something that is depended upon is ready, in the words of the user.

use flumen_yaml::Node;

use crate::cel::{CompileError, EvaluationError, Expression};

/// A question about an object (`self`) and one that it depends on (`dep`).
#[derive(Debug)]
pub struct ReadyExpression(Expression);

impl ReadyExpression {
    /// The answer must be yes or no by its type, so that a mistake is found before anything is read.
    pub fn new(source: &str) -> Result<Self, CompileError> {
        Expression::check(source, &["self", "dep"]).map(Self)
    }

    /// An error means that there is no answer yet: what is asked about may appear later.
    pub fn is_ready(&self, this: &Node, dependency: &Node) -> Result<bool, EvaluationError> {
        self.0.is_true(&[("self", this), ("dep", dependency)])
    }
}
