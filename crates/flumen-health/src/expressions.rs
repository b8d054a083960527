//! Health in the words of the user: expressions about objects.

use flumen_yaml::Node;

use crate::{
    Health, Status,
    cel::{CompileError, EvaluationError, Expression},
    fields::int_at,
};

/// When objects of a kind are what: texts as the user wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HealthCheck {
    /// The version in it does not matter.
    pub api_version: String,
    /// Empty for all kinds of the group.
    pub kind: String,
    pub current: String,
    /// May be empty, as may `in_progress`.
    pub failed: String,
    pub in_progress: String,
}

/// The expressions of one [`HealthCheck`], ready to be asked.
#[derive(Debug)]
pub struct HealthExpressions {
    /// In the order in which they are asked.
    questions: Vec<(Status, Expression)>,
}

/// Why the expressions for a kind cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HealthCheckError {
    #[error("expression Current not specified")]
    NoCurrent,
    #[error("failed to parse the expression {name}: {error}")]
    Expression { name: Status, error: CompileError },
}

impl HealthExpressions {
    pub fn new(check: &HealthCheck) -> Result<Self, HealthCheckError> {
        if check.current.is_empty() {
            return Err(HealthCheckError::NoCurrent);
        }
        let compile = |(name, source): (Status, &String)| {
            Expression::parse(source)
                .map(|expression| (name, expression))
                .map_err(|error| HealthCheckError::Expression { name, error })
        };
        let sources = [
            (Status::Current, &check.current),
            (Status::Failed, &check.failed),
            (Status::InProgress, &check.in_progress),
        ];
        let given = sources.into_iter().filter(|(_, source)| !source.is_empty());
        let mut questions = given.map(compile).collect::<Result<Vec<_>, _>>()?;
        questions.reverse();
        Ok(Self { questions })
    }

    /// The first question that is answered with yes decides; an object for which there is none is in
    /// progress, as is one whose controller has not seen it yet.
    pub fn assess(&self, object: &Node) -> Result<Health, EvaluationError> {
        let observed = int_at(object, &["status", "observedGeneration"]);
        let generation = int_at(object, &["metadata", "generation"]);
        if observed.zip(generation).is_some_and(|(observed, generation)| observed != generation) {
            return Ok(Health::bare(Status::InProgress, ""));
        }
        let fields: Vec<(&str, &Node)> = match object.as_map() {
            Some(map) => map.iter().map(|entry| (entry.key.as_str(), &entry.value)).collect(),
            None => Vec::new(),
        };
        for (status, question) in &self.questions {
            if question.is_true(&fields)? {
                return Ok(Health::bare(*status, ""));
            }
        }
        Ok(Health::bare(Status::InProgress, ""))
    }
}
