//! Keeps the number of entries of updates small.

use std::collections::BTreeMap;

use super::managers::{Entry, Id, Managers, Operation};

const MAX_UPDATERS: usize = 10;
const OLDEST: &str = "ancient-changes";

/// Merges the oldest entries of updates, one bucket for each version, until there are few enough.
pub(super) fn merge_oldest(mut managers: Managers) -> Managers {
    let mut updaters: Vec<(Option<String>, String, Id)> = managers
        .entries()
        .iter()
        .filter(|entry| entry.id.operation == Operation::Update)
        .map(|entry| (entry.time.clone(), entry.id.sort_key(), entry.id.clone()))
        .collect();
    let mut too_many = updaters.len().saturating_sub(MAX_UPDATERS);
    if too_many == 0 {
        return managers;
    }
    updaters
        .sort_by(|(time_a, key_a, _), (time_b, key_b, _)| (time_a, key_a).cmp(&(time_b, key_b)));
    let mut first_of_version: BTreeMap<String, Id> = BTreeMap::new();
    for (_, _, id) in updaters {
        if too_many == 0 {
            break;
        }
        let Some(entry) = managers.get(&id).cloned() else { continue };
        let Some(first) = first_of_version.get(&entry.api_version) else {
            first_of_version.insert(entry.api_version, id);
            continue;
        };
        let bucket = Id::new(OLDEST, Operation::Update, &entry.api_version, "");
        if managers.get(&bucket).is_none()
            && let Some(first) = managers.remove(first)
        {
            managers.set(Entry { id: bucket.clone(), ..first });
        }
        managers.remove(&id);
        let older = managers.get(&bucket).map(|older| older.fields.clone()).unwrap_or_default();
        managers.set(Entry { id: bucket, fields: entry.fields.union(&older), ..entry });
        too_many -= 1;
    }
    managers
}
