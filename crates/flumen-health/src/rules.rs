//! Which rule is asked about which object.

use std::collections::{BTreeMap, btree_map::Entry};

use flumen_object::Gvk;
use flumen_yaml::Node;
use jiff::Timestamp;

use crate::{
    Health, HealthCheck, HealthCheckError, HealthExpressions, assess, assess_job, owned_pods,
    wait::group_kind,
};

/// The rules by which a set of objects is judged: those of the user before the built-in ones.
#[derive(Debug, Default)]
pub struct HealthRules {
    /// By group and kind; the kind is empty where the whole group is meant.
    expressions: BTreeMap<(String, String), HealthExpressions>,
    /// Whether the user may have a word on Jobs.
    covers_jobs: bool,
}

/// Why the rules of the user cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HealthRulesError {
    #[error("duplicate custom health check for GroupKind {group_kind} at healthchecks[{place}]")]
    Duplicate { group_kind: String, place: usize },
    #[error("failed to create custom status evaluator for healthchecks[{place}]: {source}")]
    Check { place: usize, source: HealthCheckError },
}

/// Who judges an object.
enum Rule<'a> {
    Job,
    Expressions(&'a HealthExpressions),
    BuiltIn,
}

impl HealthRules {
    /// Compiles the rules of the user. As in Flux, Jobs are judged by the built-in rule whatever the
    /// user says, unless the work is done in the name of somebody else.
    pub fn new(checks: &[HealthCheck], impersonating: bool) -> Result<Self, HealthRulesError> {
        let mut expressions = BTreeMap::new();
        for (place, check) in checks.iter().enumerate() {
            let gvk = Gvk::new(&check.api_version.as_str().into(), check.kind.as_str().into());
            match expressions.entry((gvk.group.to_string(), gvk.kind.to_string())) {
                Entry::Occupied(_) => {
                    let group_kind = group_kind(&gvk.group, &gvk.kind);
                    return Err(HealthRulesError::Duplicate { group_kind, place });
                }
                Entry::Vacant(entry) => {
                    let compiled = HealthExpressions::new(check)
                        .map_err(|source| HealthRulesError::Check { place, source })?;
                    entry.insert(compiled);
                }
            }
        }
        Ok(Self { expressions, covers_jobs: impersonating })
    }

    /// How healthy an object is; one that cannot be judged is unknown. `pods` are those that its
    /// selector selects, for objects that [depend on them](Self::depends_on_pods).
    pub fn assess(&self, object: &Node, pods: &[&Node], now: Timestamp) -> Health {
        match self.rule_for(object) {
            Rule::Job => assess_job(object, now).unwrap_or_else(|error| Health::unknown(&error)),
            Rule::Expressions(expressions) => {
                expressions.assess(object).unwrap_or_else(|error| Health::unknown(&error))
            }
            Rule::BuiltIn => match assess(object, now) {
                Ok(health) if owned_pods::depends_on_pods(&Gvk::of(object)) => {
                    owned_pods::correct(health, pods, now)
                }
                Ok(health) => health,
                Err(error) => Health::unknown(&error),
            },
        }
    }

    /// Whether objects of a kind are judged by the built-in rules, and by nothing but themselves.
    pub fn is_built_in(&self, gvk: &Gvk) -> bool {
        let of_kind = |kind: &str| (gvk.group.to_string(), kind.to_owned());
        ["", &gvk.kind].iter().all(|kind| !self.expressions.contains_key(&of_kind(kind)))
            && !owned_pods::depends_on_pods(gvk)
    }

    /// Whether the verdict on an object can change with its pods.
    pub fn depends_on_pods(&self, object: &Node) -> bool {
        matches!(self.rule_for(object), Rule::BuiltIn)
            && owned_pods::depends_on_pods(&Gvk::of(object))
    }

    fn rule_for(&self, object: &Node) -> Rule<'_> {
        let gvk = Gvk::of(object);
        let is_job = gvk.group == "batch" && gvk.kind == "Job";
        let of_kind = |kind: &str| self.expressions.get(&(gvk.group.to_string(), kind.to_owned()));
        match of_kind(&gvk.kind).or_else(|| of_kind("")) {
            Some(expressions) if !is_job || self.covers_jobs => Rule::Expressions(expressions),
            _ if is_job => Rule::Job,
            _ => Rule::BuiltIn,
        }
    }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::Node;
    use jiff::Timestamp;

    use super::HealthRules;
    use crate::HealthCheck;

    fn read(yaml: &str) -> Node {
        let budget = flumen_yaml::Budget::default();
        flumen_yaml::read(&yaml.into(), 1, &budget).expect("YAML").pop().expect("a document")
    }

    fn rule(api_version: &str, kind: &str, current: &str) -> HealthCheck {
        HealthCheck {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            current: current.to_owned(),
            ..HealthCheck::default()
        }
    }

    #[track_caller]
    fn check(rules: &HealthRules, object: &str, expected: &str) {
        let health = rules.assess(&read(object), &[], Timestamp::UNIX_EPOCH);
        assert_eq!(format!("{}: {}", health.status, health.message), expected);
    }

    #[test]
    fn a_rule_for_the_kind_wins_over_one_for_the_group() {
        let checks =
            [rule("example.com/v1", "", "true"), rule("example.com/v1", "Gadget", "false")];
        let rules = HealthRules::new(&checks, false).expect("rules");
        check(&rules, "{apiVersion: example.com/v2, kind: Widget}", "Current: ");
        check(&rules, "{apiVersion: example.com/v1, kind: Gadget}", "InProgress: ");
        check(&rules, "{apiVersion: v1, kind: Secret}", "Current: Resource is always ready");
    }

    #[test]
    fn jobs_have_their_own_reader_unless_somebody_is_impersonated() {
        let job = "{apiVersion: batch/v1, kind: Job}";
        let checks = [rule("batch/v1", "Job", "true")];
        let rules = HealthRules::new(&checks, false).expect("rules");
        check(&rules, job, "InProgress: Job not started. active: 0/1");
        let rules = HealthRules::new(&checks, true).expect("rules");
        check(&rules, job, "Current: ");
    }

    #[test]
    fn what_cannot_be_judged_is_unknown() {
        let rules = HealthRules::new(&[rule("example.com/v1", "Widget", "status.x")], false);
        let widget = "{apiVersion: example.com/v1, kind: Widget, status: {}}";
        let why = "Unknown: failed to evaluate the CEL expression 'status.x': no such key: x";
        check(&rules.expect("rules"), widget, why);
        let pod = "{apiVersion: v1, kind: Pod, status: {phase: Sleeping}}";
        check(&HealthRules::default(), pod, "Unknown: unknown phase Sleeping");
    }

    #[test]
    fn pods_are_asked_for_only_where_they_count() {
        let set = read("{apiVersion: apps/v1, kind: StatefulSet}");
        assert!(HealthRules::default().depends_on_pods(&set));
        let rules = HealthRules::new(&[rule("apps/v1", "StatefulSet", "true")], false);
        assert!(!rules.expect("rules").depends_on_pods(&set));
    }

    #[test]
    fn mistakes_name_the_rule() {
        let twice = [rule("e.com/v1", "W", "true"), rule("e.com/v2", "W", "true")];
        let error = HealthRules::new(&twice, false).expect_err("a duplicate").to_string();
        assert_eq!(error, "duplicate custom health check for GroupKind W.e.com at healthchecks[1]");
        let error = HealthRules::new(&[rule("e.com/v1", "W", "")], false).expect_err("nothing");
        let text = "failed to create custom status evaluator for healthchecks[0]: \
                    expression Current not specified";
        assert_eq!(error.to_string(), text);
    }
}
