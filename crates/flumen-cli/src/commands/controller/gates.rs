//! Flux's feature gates.

use flumen_controller::Options;

use super::values::go_bool;
use crate::error::{CommandError, Failure};

/// Those that have nothing to act on here.
const WITHOUT_MEANING: [&str; 4] = [
    "CacheSecretsAndConfigMaps",
    "DirectSourceFetch",
    "DisableStatusPollerCache",
    "GroupChangeLog",
];

/// Those that switch something on that is not there yet.
const UNSUPPORTED: [&str; 2] = ["MigrateAPIVersion", "ObjectLevelWorkloadIdentity"];

/// What came of a switch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Set,
    WithoutMeaning(String),
    Unsupported(String),
}

/// Sets what one of Flux's switches stands for.
pub(super) fn set(options: &mut Options, gate: &str) -> Result<Effect, CommandError> {
    let Some((name, value)) = gate.split_once('=') else {
        let message = format!("`--feature-gates {gate}`: expected `{gate}=true` or `{gate}=false`");
        return Err(Failure::new(message).into());
    };
    let name = name.trim();
    let is_on = go_bool(value.trim()).map_err(|expected| {
        Failure::new(format!("`--feature-gates {gate}`: invalid value of {name}: {expected}"))
    })?;
    match name {
        "AdditiveCELDependencyCheck" => options.kustomize.additive_dependency_checks = is_on,
        "CancelHealthCheckOnNewRevision" => options.kustomize.cancel_health_checks = is_on,
        "DisableConfigWatchers" => options.runtime.watch_references = !is_on,
        "DisableFailFastBehavior" => options.kustomize.fail_fast = !is_on,
        "ExternalArtifact" => options.kustomize.external_artifacts = is_on,
        "StrictPostBuildSubstitutions" => options.kustomize.strict_substitutions = is_on,
        known if WITHOUT_MEANING.contains(&known) => {
            return Ok(Effect::WithoutMeaning(format!("feature gate {known}")));
        }
        known if UNSUPPORTED.contains(&known) && is_on => {
            return Ok(Effect::Unsupported(format!("feature gate {known}")));
        }
        known if UNSUPPORTED.contains(&known) => {}
        unknown => {
            return Err(Failure::new(format!("feature-gate '{unknown}' not supported")).into());
        }
    }
    Ok(Effect::Set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_those_of_flux() {
        let mut options = Options::default();
        let mut set = |gate: &str| set(&mut options, gate).map_err(|error| format!("{error:?}"));
        assert_eq!(set("DisableFailFastBehavior=true"), Ok(Effect::Set));
        assert_eq!(set(" ExternalArtifact = F"), Ok(Effect::Set));
        let ignored = "feature gate GroupChangeLog".to_owned();
        assert_eq!(set("GroupChangeLog=1"), Ok(Effect::WithoutMeaning(ignored)));
        let missing = "feature gate MigrateAPIVersion".to_owned();
        assert_eq!(set("MigrateAPIVersion=true"), Ok(Effect::Unsupported(missing)));
        assert_eq!(set("MigrateAPIVersion=false"), Ok(Effect::Set), "there is nothing to miss");
        let refused = |answer: Result<_, String>, why: &str| {
            let error = answer.expect_err(why);
            assert!(error.contains(why), "{error}");
        };
        refused(set("Other=true"), "feature-gate 'Other' not supported");
        refused(set("ExternalArtifact"), "expected `ExternalArtifact=true`");
        refused(set("ExternalArtifact=maybe"), "expected true or false");
        assert!(!options.kustomize.fail_fast && !options.kustomize.external_artifacts);
    }
    #[test]
    fn those_that_change_nothing_are_in_the_documentation() {
        let page = include_str!("../../../../../docs/controller.md");
        for gate in WITHOUT_MEANING.iter().chain(&UNSUPPORTED) {
            assert!(page.contains(&format!("`{gate}`")), "{gate}");
        }
    }
}
