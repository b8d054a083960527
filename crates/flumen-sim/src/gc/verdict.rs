//! What becomes of an object, given its owners.

use serde_json::Value;

use super::{FOREGROUND, ORPHAN};
use crate::object::has_finalizer;

/// What an owner is to its dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnerState {
    Solid,
    /// Being deleted in the foreground: it waits for its dependents.
    Ending,
    Absent,
    /// Its kind is not served, so nothing can be said.
    Unknown,
}

#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    Keep,
    /// Some owners are gone, these remain.
    Forget(Vec<Value>),
    /// With this propagation.
    Delete(&'static str),
}

/// Judges an object that is not yet being deleted.
pub(super) fn on(object: &Value, owners: &[(&Value, OwnerState)], has_dependents: bool) -> Verdict {
    let holds = |state: OwnerState| matches!(state, OwnerState::Solid | OwnerState::Unknown);
    let rest: Vec<Value> = owners
        .iter()
        .filter(|(_, state)| holds(*state))
        .map(|(owner, _)| (*owner).clone())
        .collect();
    if rest.len() == owners.len() {
        return Verdict::Keep;
    }
    if !rest.is_empty() {
        return Verdict::Forget(rest);
    }
    let awaited = owners.iter().any(|(_, state)| *state == OwnerState::Ending);
    Verdict::Delete(if awaited && has_dependents {
        // The owner waits for this one, and this one for its own dependents.
        "Foreground"
    } else if has_finalizer(object, ORPHAN) {
        "Orphan"
    } else if has_finalizer(object, FOREGROUND) {
        "Foreground"
    } else {
        "Background"
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use OwnerState::{Absent, Ending, Solid, Unknown};

    fn check(states: &[OwnerState], has_dependents: bool, expected: &Verdict) {
        let owners: Vec<Value> = (0..states.len()).map(|n| json!({"uid": n.to_string()})).collect();
        let owners: Vec<(&Value, OwnerState)> = owners.iter().zip(states.iter().copied()).collect();
        assert_eq!(on(&json!({}), &owners, has_dependents), *expected, "{states:?}");
    }

    #[test]
    fn an_object_stays_as_long_as_an_owner_does() {
        check(&[], false, &Verdict::Keep);
        check(&[Solid, Solid], false, &Verdict::Keep);
        check(&[Absent, Solid], false, &Verdict::Forget(vec![json!({"uid": "1"})]));
        check(&[Solid, Ending], true, &Verdict::Forget(vec![json!({"uid": "0"})]));
    }

    #[test]
    fn nothing_is_deleted_because_a_kind_is_unknown() {
        check(&[Unknown], false, &Verdict::Keep);
        check(&[Unknown, Absent], false, &Verdict::Forget(vec![json!({"uid": "0"})]));
    }

    #[test]
    fn an_object_goes_with_its_last_owner() {
        check(&[Absent], true, &Verdict::Delete("Background"));
        check(&[Ending], false, &Verdict::Delete("Background"));
        check(&[Ending], true, &Verdict::Delete("Foreground"));
    }

    #[test]
    fn finalizers_say_how_it_goes() {
        let owner = json!({"uid": "0"});
        for (finalizer, expected) in [(ORPHAN, "Orphan"), (FOREGROUND, "Foreground")] {
            let object = json!({"metadata": {"finalizers": [finalizer]}});
            let verdict = on(&object, &[(&owner, Absent)], false);
            assert_eq!(verdict, Verdict::Delete(expected));
        }
    }
}
