//! Pod security standards: what pods may do in a namespace, by its labels.

mod checks;
mod restricted;

use flumen_fields::{FieldError, Path};
use serde_json::Value;

pub use self::checks::Violation;

const PREFIX: &str = "pod-security.kubernetes.io/";
/// The newest version that changed anything. Later ones are the same.
const NEWEST: u32 = 35;

/// How much pods may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecurityLevel {
    #[default]
    Privileged,
    Baseline,
    Restricted,
}

/// A level as a version of Kubernetes means it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecurityStandard {
    pub level: SecurityLevel,
    /// The minor version; none is the newest.
    version: Option<u32>,
}

/// What the labels of a namespace ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodSecurity {
    /// Refuses pods.
    pub enforce: SecurityStandard,
    /// Warns of pods and of what makes them.
    pub warn: SecurityStandard,
}

impl SecurityLevel {
    const fn name(self) -> &'static str {
        match self {
            Self::Privileged => "privileged",
            Self::Baseline => "baseline",
            Self::Restricted => "restricted",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Privileged, Self::Baseline, Self::Restricted]
            .into_iter()
            .find(|level| level.name() == text)
    }
}

impl std::fmt::Display for SecurityStandard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let level = self.level.name();
        match self.version {
            Some(minor) => write!(f, "{level}:v1.{minor}"),
            None => write!(f, "{level}:latest"),
        }
    }
}

impl SecurityStandard {
    /// What a pod, or the template of one, does that it may not.
    pub fn violations(&self, pod: &Value) -> Vec<Violation> {
        let version = self.version.unwrap_or(NEWEST).min(NEWEST);
        match self.level {
            SecurityLevel::Privileged => Vec::new(),
            SecurityLevel::Baseline => checks::violations(pod, false, version),
            SecurityLevel::Restricted => checks::violations(pod, true, version),
        }
    }

    /// Whether pods that were allowed may not be so any more.
    pub fn is_stricter_than(&self, other: &Self) -> bool {
        self != other
            && self.level != SecurityLevel::Privileged
            && (self.version != other.version || self.level > other.level)
    }
}

impl PodSecurity {
    /// Whether nothing is asked for.
    pub fn is_privileged(&self) -> bool {
        self.enforce.level == SecurityLevel::Privileged
            && self.warn.level == SecurityLevel::Privileged
    }

    /// What the labels of an object ask for, and what is wrong with them. Wrong levels are the strictest
    /// where pods are refused and the mildest where they are not.
    pub fn of_labels(object: &Value) -> (Self, Vec<FieldError>) {
        let mut errors = Vec::new();
        let mut policy = Self::default();
        let Some(labels) = object["metadata"]["labels"].as_object() else {
            return (policy, errors);
        };
        let mut read = |mode: &str, fallback: SecurityLevel| {
            let text = |key: &str| labels.get(key).and_then(Value::as_str);
            let (level_key, version_key) =
                (format!("{PREFIX}{mode}"), format!("{PREFIX}{mode}-version"));
            let level = text(&level_key).map(|text| {
                let level = SecurityLevel::parse(text);
                if level.is_none() {
                    let why = "must be one of privileged, baseline, restricted";
                    errors.push(invalid(&level_key, text, why));
                }
                level
            });
            let version = text(&version_key).map(|text| {
                parse_version(text).unwrap_or_else(|()| {
                    errors.push(invalid(&version_key, text, "must be \"latest\" or \"v1.x\""));
                    None
                })
            });
            (level.map(|level| level.ok_or(fallback)), version)
        };
        let (enforce, enforce_version) = read("enforce", SecurityLevel::Restricted);
        // Audits are recorded nowhere, but their labels have to be right.
        read("audit", SecurityLevel::Privileged);
        let (warn, warn_version) = read("warn", SecurityLevel::Privileged);
        let level = |read: Option<Result<SecurityLevel, SecurityLevel>>| match read {
            Some(Ok(level) | Err(level)) => level,
            None => SecurityLevel::default(),
        };
        policy.enforce.level = level(enforce);
        policy.enforce.version = enforce_version.flatten();
        policy.warn.level = level(warn);
        policy.warn.version = warn_version.flatten();
        if let (Some(Ok(enforced)), None) = (enforce, warn)
            && enforced > policy.warn.level
        {
            policy.warn.level = enforced;
            if warn_version.is_none() {
                policy.warn.version = policy.enforce.version;
            }
        }
        (policy, errors)
    }
}

fn invalid(key: &str, value: &str, why: &str) -> FieldError {
    let metadata = Path::new("metadata");
    let labels = metadata.child("labels");
    FieldError::invalid(&labels.key(key), value, why)
}

/// The minor version, none for the newest.
fn parse_version(text: &str) -> Result<Option<u32>, ()> {
    if text == "latest" {
        return Ok(None);
    }
    let minor = text.strip_prefix("v1.").ok_or(())?;
    let is_plain = minor.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = minor == "0" || !minor.starts_with('0');
    match minor.parse() {
        Ok(minor) if is_plain && is_short => Ok(Some(minor)),
        _ => Err(()),
    }
}
