//! The contract of Flux's kinds with their users: a request by annotation, suspension, the observed generation.

use crate::Conditions;

/// Annotation that requests a reconciliation.
const REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";

/// A kind that one of Flux's controllers reconciles.
pub trait Reconciled: Conditions {
    fn is_suspended(&self) -> bool;
    fn observed_generation(&self) -> i64;
    fn set_observed_generation(&mut self, generation: i64);
    fn set_last_handled_reconcile_at(&mut self, request: String);

    /// Returns the value by which a user last requested a reconciliation.
    fn requested_at(&self) -> Option<&str> {
        self.metadata().annotations.get(REQUESTED_AT).map(String::as_str)
    }

    /// Sets the observed generation to the present one.
    fn observe_generation(&mut self) {
        self.set_observed_generation(self.metadata().generation);
    }

    /// Marks the request of a user as handled.
    fn handle_request(&mut self) {
        if let Some(request) = self.requested_at().map(str::to_owned) {
            self.set_last_handled_reconcile_at(request);
        }
    }
}

/// Implements [`Reconciled`] for a struct with the fields that Flux gives its kinds.
macro_rules! reconciled {
    ($type:ty) => {
        impl $crate::Reconciled for $type {
            fn is_suspended(&self) -> bool {
                self.spec.suspend
            }

            fn observed_generation(&self) -> i64 {
                self.status.observed_generation
            }

            fn set_observed_generation(&mut self, generation: i64) {
                self.status.observed_generation = generation;
            }

            fn set_last_handled_reconcile_at(&mut self, request: String) {
                self.status.last_handled_reconcile_at = Some(request);
            }
        }
    };
}
pub(crate) use reconciled;
