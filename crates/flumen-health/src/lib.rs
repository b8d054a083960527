//! Whether an object is healthy.
//!
//! Pure rules over one object at one time: what is called ready, in progress or failed is what users of
//! kubectl, Flux and kustomizer are used to. Who reads the object, and when again, is decided above.

mod cel;
mod dependency;
mod error;
mod explain;
mod expressions;
mod facts;
mod fields;
mod generic;
mod health;
mod kinds;
mod owned_pods;
mod rules;
mod wait;

pub use cel::{CompileError, EvaluationError};
pub use dependency::ReadyExpression;
pub use error::Error;
pub use explain::explain;
pub use expressions::{HealthCheck, HealthCheckError, HealthExpressions};
pub use generic::assess;
pub use health::{Condition, Health, Status};
pub use kinds::assess_job;
pub use rules::{HealthRules, HealthRulesError};
pub use wait::{Verdict, Wait, WaitError};

pub use flumen_cel::TooLarge;
