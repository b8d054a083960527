//! Flux's feature gates.

use flumen_controller::Options;

use super::values::go_bool;
use crate::error::{CommandError, Failure};

/// Those that change nothing here.
const WITHOUT_MEANING: [&str; 6] = [
    "CacheSecretsAndConfigMaps",
    "DirectSourceFetch",
    "DisableStatusPollerCache",
    "GroupChangeLog",
    "MigrateAPIVersion",
    "ObjectLevelWorkloadIdentity",
];

/// Sets what one of Flux's switches stands for. One that has no meaning here is returned.
pub(super) fn set(options: &mut Options, gate: &str) -> Result<Option<String>, CommandError> {
    let Some((name, value)) = gate.split_once('=') else {
        let message = format!("`--feature-gates {gate}`: expected `{gate}=true` or `{gate}=false`");
        return Err(Failure::new(message).into());
    };
    let name = name.trim();
    let is_on = go_bool(value.trim()).map_err(|expected| {
        Failure::new(format!("`--feature-gates {gate}`: invalid value of {name}: {expected}"))
    })?;
    match name {
        "AdditiveCELDependencyCheck" => options.additive_dependency_checks = is_on,
        "CancelHealthCheckOnNewRevision" => options.cancel_health_checks = is_on,
        "DisableConfigWatchers" => options.watch_references = !is_on,
        "DisableFailFastBehavior" => options.fail_fast = !is_on,
        "ExternalArtifact" => options.external_artifacts = is_on,
        "StrictPostBuildSubstitutions" => options.strict_substitutions = is_on,
        known if WITHOUT_MEANING.contains(&known) => {
            return Ok(Some(format!("feature gate {known}")));
        }
        unknown => {
            return Err(Failure::new(format!("feature-gate '{unknown}' not supported")).into());
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_those_of_flux() {
        let mut options = Options::default();
        let mut set = |gate: &str| set(&mut options, gate).map_err(|error| format!("{error:?}"));
        assert_eq!(set("DisableFailFastBehavior=true"), Ok(None));
        assert_eq!(set(" ExternalArtifact = F"), Ok(None));
        assert_eq!(set("GroupChangeLog=1"), Ok(Some("feature gate GroupChangeLog".to_owned())));
        let refused = |answer: Result<_, String>, why: &str| {
            let error = answer.expect_err(why);
            assert!(error.contains(why), "{error}");
        };
        refused(set("Other=true"), "feature-gate 'Other' not supported");
        refused(set("ExternalArtifact"), "expected `ExternalArtifact=true`");
        refused(set("ExternalArtifact=maybe"), "expected true or false");
        assert!(!options.fail_fast && !options.external_artifacts);
    }
}
