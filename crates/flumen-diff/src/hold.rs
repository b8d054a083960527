//! Whether what is declared belongs to the one who declares it.
//!
//! Who gives a field another value takes it from its manager, and keeps it when the old value comes back. Applying would
//! then change nothing that is compared, and yet the field is no longer the manager's: its entry among the managed
//! fields stays as it is when the field changes again.

use flumen_yaml::Node;

use crate::{
    IgnoredPaths,
    managed_fields::{FieldSet, managers},
};

/// Whether `manager` has every field of `live` that it would have after applying, which `result` shows: the answer of a
/// dry-run. Ignored fields may be anybody's.
pub fn is_held(live: &Node, result: &Node, manager: &str, ignored: &IgnoredPaths) -> bool {
    let mut wanted = applied(result, manager);
    for path in ignored.paths() {
        wanted.remove(path, result);
    }
    applied(live, manager).covers(&wanted)
}

/// The fields that a manager has applied and that nobody took since.
fn applied(object: &Node, manager: &str) -> FieldSet {
    let mut fields = FieldSet::default();
    for entry in managers(object).filter(|entry| entry.is_applied_by(manager)) {
        fields.extend(entry.fields());
    }
    fields
}

#[cfg(test)]
mod tests {
    use crate::{IgnoreRule, IgnoreRules, tests::node};

    use super::*;

    /// Compares what `flux` has in two objects of the same value.
    #[track_caller]
    fn check(live: &str, result: &str, ignored: &str, held: bool) {
        let object = |managers: &str| {
            node(&format!(
                "{{spec: {{replicas: 2, ports: [{{port: 80}}]}}, metadata: {{managedFields: [{managers}]}}}}"
            ))
        };
        let paths = ignored.split_whitespace().map(str::to_owned).collect();
        let rules = IgnoreRules::new(&[IgnoreRule { paths, target: None }]).expect("rules");
        let ignored = rules.of(&object(""));
        assert_eq!(is_held(&object(live), &object(result), "flux", &ignored), held, "{live}");
    }

    fn ours(fields: &str) -> String {
        format!("{{manager: flux, operation: Apply, time: t, fieldsV1: {{{fields}}}}}")
    }

    const BOTH: &str =
        r#""f:spec": {"f:replicas": {}, "f:ports": {"k:{\"port\":80}": {".": {}, "f:port": {}}}}"#;
    const PORTS: &str = r#""f:spec": {"f:ports": {"k:{\"port\":80}": {".": {}, "f:port": {}}}}"#;
    const REPLICAS: &str = r#""f:spec": {"f:replicas": {}}"#;

    #[test]
    fn a_field_that_somebody_has_taken_is_not_held() {
        check(&ours(BOTH), &ours(BOTH), "", true);
        check(&ours(PORTS), &ours(BOTH), "", false);
        check(&ours(REPLICAS), &ours(BOTH), "", false);
        check("", &ours(BOTH), "", false);
        // What is ours and no longer declared does no harm.
        check(&ours(BOTH), &ours(PORTS), "", true);
    }

    #[test]
    fn only_what_was_applied_to_the_object_itself_counts() {
        let (theirs, all) = (ours(BOTH).replace("flux", "helm"), ours(BOTH));
        check(&theirs, &all, "", false);
        check(&all.replace("Apply", "Update"), &all, "", false);
        check(&all.replace("time: t", "subresource: scale"), &all, "", false);
        check(&format!("{theirs}, {}", all.replace("time: t", "time: u")), &all, "", true);
    }

    #[test]
    fn ignored_fields_may_be_anybodys() {
        check(&ours(PORTS), &ours(BOTH), "/spec/replicas", true);
        check(&ours(REPLICAS), &ours(BOTH), "/spec/ports/0", true);
        check(&ours(REPLICAS), &ours(BOTH), "/spec/ports/0/port", false);
        check("", &ours(BOTH), "/spec", true);
        check(&ours(PORTS), &ours(BOTH), "/spec/paused /spec/ports/1", false);
    }
}
