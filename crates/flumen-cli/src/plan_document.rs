//! Plans as programs read them.

use flumen_apply::{Plan, Planned};
use flumen_diff::{Change, ChangeSubject, PlanOperation};
use serde::Serialize;

use crate::{
    error::{CommandError, Failure},
};

#[derive(Serialize)]
pub(crate) struct PlanDocument {
    op: PlanOperation,
    /// The same as `k8s_content_diff`, as indented text.
    plan: String,
    k8s_content_diff: Vec<Change>,
    /// The objects that would be written, as YAML documents.
    dry_run_output: String,
}
