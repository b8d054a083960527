//! Which rule is asked about which object.

use flumen_object::Gvk;
use flumen_yaml::Node;
use jiff::Timestamp;

use crate::{Health, assess, assess_job, owned_pods};

/// The rules by which a set of objects is judged.
#[derive(Debug, Default)]
pub struct HealthRules {}

impl HealthRules {
    /// How healthy an object is. `pods` are those that its selector selects, for objects that
    /// [`depends_on_pods`](crate::depends_on_pods); an object that cannot be judged is unknown.
    pub fn assess(&self, object: &Node, pods: &[&Node], now: Timestamp) -> Health {
        let gvk = Gvk::of(object);
        let judged = if gvk.group == "batch" && gvk.kind == "Job" {
            assess_job(object, now)
        } else {
            assess(object, now)
        };
        match judged {
            Ok(health) if owned_pods::depends_on_pods(object) => {
                owned_pods::correct(health, pods, now)
            }
            Ok(health) => health,
            Err(error) => Health::unknown(&error),
        }
    }
}
