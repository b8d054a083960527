//! Plans as programs read them.

use flumen_apply::{Plan, Planned};
use flumen_diff::{Change, ChangeSubject, PlanDocument, PlanOperation};

use crate::error::CommandError;

/// The document that approval tools know. Values of secrets are masked.
pub(crate) fn document(plan: &Plan) -> Result<PlanDocument, CommandError> {
    let candidates = plan.objects.iter().filter(|object| object.is_change());
    let changes = plan.objects.iter().map(change).collect();
    PlanDocument::new(PlanOperation::Apply, changes, candidates.filter_map(|it| it.result.as_ref()))
        .map_err(|error| CommandError::failure(error.to_string()))
}

fn change(planned: &Planned) -> Change {
    let subject = ChangeSubject { id: &planned.id, resource: &planned.resource };
    match &planned.error {
        Some(error) => Change::failed(subject, error.message.clone()),
        None => Change::between(subject, planned.live.as_ref(), planned.result.as_ref()),
    }
}
