//! Plans as programs read them.

use flumen_apply::{Plan, Planned};
use flumen_diff::{PlanDocument, PlanOperation};

use crate::error::CommandError;

/// The document that approval tools know. What would not change is left out; values of secrets are masked.
pub(crate) fn document(plan: &Plan) -> Result<PlanDocument, CommandError> {
    let candidates = plan.objects.iter().filter(|object| object.is_change());
    let changes = candidates.clone().map(Planned::change).collect();
    PlanDocument::new(PlanOperation::Apply, changes, candidates.filter_map(|it| it.result.as_ref()))
        .map_err(|error| CommandError::failure(error.to_string()))
}
