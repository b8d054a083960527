//! The conditions of an object, made complete for those who look at conditions alone.

use flumen_yaml::Node;
use jiff::Timestamp;

use crate::{Condition, Error, assess, facts::conditions};

/// The conditions of an object with the verdict on it among them: replaced where the object has a
/// condition of that type, appended where it has not.
pub fn augment(object: &Node, now: Timestamp) -> Result<Vec<Condition>, Error> {
    let mut conditions = conditions(object)?;
    for verdict in assess(object, now)?.conditions {
        let mut present = false;
        for condition in &mut conditions {
            if condition.kind.is_empty() {
                return Err(Error::ConditionType);
            }
            if condition.kind == verdict.kind {
                if condition.status.is_empty() {
                    return Err(Error::ConditionStatus);
                }
                *condition = verdict.clone();
                present = true;
            }
        }
        if !present {
            conditions.push(verdict);
        }
    }
    Ok(conditions)
}
