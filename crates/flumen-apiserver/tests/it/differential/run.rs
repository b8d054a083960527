//! Sends a sequence to both servers, finds the first difference, and the shortest sequence that shows it.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::atomic::{AtomicUsize, Ordering},
};

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{
    known,
    memory::Memory,
    normal::Normal,
    operation::Operation,
    server::{Answer, Server},
};

/// Both servers.
#[derive(Debug)]
pub(crate) struct Pair {
    pub real: Server,
    pub embedded: Server,
    pub namespaces: AtomicUsize,
    pub sent: AtomicUsize,
    /// How often differences were met that are known.
    pub known: Mutex<BTreeMap<&'static str, usize>>,
}

/// Where the answers of a sequence part.
#[derive(Debug)]
pub(crate) struct Difference {
    /// The operation whose answers differ.
    pub at: usize,
    /// Pointers with what the real and the embedded server have there.
    pub places: Vec<(String, Value, Value)>,
}

/// One server within a sequence.
struct Side<'a> {
    server: &'a Server,
    memory: Memory,
    normal: Normal,
}

impl Side<'_> {
    async fn answer(&mut self, operation: &Operation) -> Value {
        let Answer { status, content_type, mut warnings, body } =
            self.server.send(operation, &self.memory).await;
        if (200..300).contains(&status) {
            self.memory.learn(operation, &body);
        }
        // Of several fields, the real server names that first which comes first in its structs.
        warnings.sort_unstable();
        let body = self.normal.value(body);
        json!({ "status": status, "type": content_type, "warnings": warnings, "body": body })
    }
}

impl Pair {
    /// The first difference, if there is one.
    pub(crate) async fn compare(&self, operations: &[Operation]) -> Option<Difference> {
        let namespace = format!("seq-{}", self.namespaces.fetch_add(1, Ordering::Relaxed));
        let [mut real, mut embedded] = [&self.real, &self.embedded].map(|server| Side {
            server,
            memory: Memory::new(&namespace),
            normal: Normal::new(),
        });
        let create = Operation::new("POST", "/api/v1/namespaces")
            .with_json(&json!({ "metadata": { "name": "${NS}" } }));
        for side in [&mut real, &mut embedded] {
            let answer = side.answer(&create).await;
            assert_eq!(answer["status"], 201, "{namespace} is new: {answer}");
        }
        for (at, operation) in operations.iter().enumerate() {
            self.sent.fetch_add(1, Ordering::Relaxed);
            let (theirs, ours) = tokio::join!(real.answer(operation), embedded.answer(operation));
            if let Some(reason) = known::crash(&theirs, &ours) {
                self.count(reason);
                continue;
            }
            let mut places = Vec::new();
            differences(&theirs, &ours, String::new(), &mut places);
            places.retain(|(place, real, embedded)| {
                let reason = known::reason(real, embedded)
                    .or_else(|| known::default_limit((place, real, embedded), &operations[..at]));
                reason.inspect(|reason| self.count(reason)).is_none()
            });
            if !places.is_empty() {
                return Some(Difference { at, places });
            }
        }
        None
    }

    fn count(&self, reason: &'static str) {
        let mut known = self.known.lock();
        *known.entry(reason).or_default() += 1;
    }

    /// Leaves out operations as long as the answers still differ at the last one.
    pub(crate) async fn shrink(
        &self,
        mut operations: Vec<Operation>,
        mut difference: Difference,
    ) -> (Vec<Operation>, Difference) {
        operations.truncate(difference.at + 1);
        let mut place = difference.at;
        while let Some(next) = place.checked_sub(1) {
            place = next;
            let mut fewer = operations.clone();
            fewer.remove(place);
            if let Some(found) = self.compare(&fewer).await
                && found.at + 1 == fewer.len()
                && class(&found) == class(&difference)
            {
                (operations, difference) = (fewer, found);
            }
        }
        (operations, difference)
    }
}

/// The first place that differs, without the parts that vary.
pub(crate) fn class(difference: &Difference) -> String {
    let place = difference.places.first().map_or("", |(place, _, _)| place);
    let parts = place.split('/').filter(|part| part.parse::<usize>().is_err());
    parts.collect::<Vec<_>>().join("/")
}

fn differences(one: &Value, other: &Value, at: String, found: &mut Vec<(String, Value, Value)>) {
    match (one, other) {
        (Value::Object(map), Value::Object(others)) => {
            let mut keys: Vec<&String> = map.keys().chain(others.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let (one, other) = (map.get(key), others.get(key));
                let absent = Value::String("<absent>".to_owned());
                let at = format!("{at}/{key}");
                differences(one.unwrap_or(&absent), other.unwrap_or(&absent), at, found);
            }
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            for (place, (one, other)) in items.iter().zip(others).enumerate() {
                differences(one, other, format!("{at}/{place}"), found);
            }
        }
        _ if one == other => {}
        _ => found.push((at, one.clone(), other.clone())),
    }
}

/// The sequence and what differs at its end.
pub(crate) fn describe(seed: u64, operations: &[Operation], difference: &Difference) -> String {
    let mut text = format!("seed {seed}:\n");
    for operation in operations.iter().take(difference.at + 1) {
        let _ = writeln!(text, "  {operation}");
    }
    for (place, real, embedded) in difference.places.iter().take(12) {
        let _ = writeln!(text, "    {place}\n      real     {real}\n      embedded {embedded}");
    }
    text
}
