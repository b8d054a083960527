//! Following an object until it is as somebody wants it.

use std::time::Duration;

use flumen_health::{Status, assess};
use flumen_kube::{Cluster as _, Error, Event, ListOptions, ObjectName, Resource, WatchOptions};
use flumen_yaml::Node;
use futures_util::StreamExt as _;
use jiff::Timestamp;

use super::{
    Site,
    lookup::named,
    object::{Conditions, text_at},
    words::{LATE, words},
};

/// Until a watch that the server has ended is begun again.
const PAUSE: Duration = Duration::from_secs(1);

/// What is said of an object at one time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Done,
    NotYet,
    /// It will not be any more, in the words for it.
    Failed(String),
}

impl Site {
    /// The object as it is when `judge` says that it is done, or why it will not be.
    pub(crate) async fn follow(
        &self,
        object: ObjectName<'_>,
        judge: impl Fn(&Node) -> Verdict,
    ) -> Result<Node, String> {
        let followed = tokio::time::timeout_at(self.deadline, async {
            loop {
                match self.follow_once(object, &judge).await {
                    Ok(Some(done)) => return Ok(done),
                    // The server has ended the watch, or has forgotten where it began.
                    Ok(None) => tokio::time::sleep(PAUSE).await,
                    Err(reason) => return Err(reason),
                }
            }
        });
        followed.await.unwrap_or_else(|_| Err(LATE.to_owned()))
    }

    async fn follow_once(
        &self,
        object: ObjectName<'_>,
        judge: &impl Fn(&Node) -> Verdict,
    ) -> Result<Option<Node>, String> {
        let ObjectName { resource, namespace, name } = object;
        let field_selector = named(name);
        let options = ListOptions {
            namespace: Some(namespace),
            field_selector: Some(&field_selector),
            ..ListOptions::default()
        };
        let list = self.client.list(resource, options).await.map_err(|error| words(&error))?;
        let first = list.items.into_iter().next().ok_or_else(|| gone(resource, name))?;
        if let Some(done) = decide(first, judge)? {
            return Ok(Some(done));
        }
        let from = WatchOptions { list: options, resource_version: &list.resource_version };
        let mut events = match self.client.watch(resource, from).await {
            Err(error) if may_pass(&error) => return Ok(None),
            events => events.map_err(|error| words(&error))?,
        };
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Applied(object)) => {
                    if let Some(done) = decide(object, judge)? {
                        return Ok(Some(done));
                    }
                }
                Ok(Event::Deleted(_)) => return Err(gone(resource, name)),
                Ok(Event::Bookmark { .. }) => {}
                Err(error) if may_pass(&error) => return Ok(None),
                Err(error) => return Err(words(&error)),
            }
        }
        Ok(None)
    }
}

fn decide(object: Node, judge: &impl Fn(&Node) -> Verdict) -> Result<Option<Node>, String> {
    match judge(&object) {
        Verdict::Done => Ok(Some(object)),
        Verdict::NotYet => Ok(None),
        Verdict::Failed(reason) => Err(reason),
    }
}

fn may_pass(error: &Error) -> bool {
    error.is_expired() || matches!(error, Error::Interrupted { .. } | Error::TimedOut { .. })
}

fn gone(resource: &Resource, name: &str) -> String {
    format!("{}.{} \"{name}\" not found", resource.plural, resource.gvk.group)
}

/// Whether the object is what its controller made of its latest state.
pub(crate) fn health(object: &Node) -> Verdict {
    match assess(object, Timestamp::now()) {
        Err(error) => Verdict::Failed(error.to_string()),
        Ok(health) => match health.status {
            Status::Current => Verdict::Done,
            Status::InProgress => Verdict::NotYet,
            _ => Verdict::Failed(health.message),
        },
    }
}

/// The same, once the controller has said of the latest state whether it is ready.
pub(crate) fn readiness(object: &Node) -> Verdict {
    let number = |node: &Node, path: &[&str]| text_at(node, path).parse::<i64>().unwrap_or(0);
    let observed = number(object, &["status", "observedGeneration"]);
    let generation = number(object, &["metadata", "generation"]);
    let Some(ready) = Conditions::of(object).ready().filter(|_| observed >= 1) else {
        return Verdict::NotYet;
    };
    // Not every controller notes it in the condition.
    let seen = match number(ready, &["observedGeneration"]) {
        0 => observed,
        seen => seen,
    };
    if seen == generation { health(object) } else { Verdict::NotYet }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Budget, Text, read};

    use super::*;

    #[track_caller]
    fn check(status: &str, expected: &Verdict) {
        let text = format!(
            "apiVersion: example.com/v1\nkind: Thing\nmetadata: {{generation: 2}}\nstatus: {status}\n"
        );
        let object = read(&Text::from(text), 1, &Budget::default()).expect("YAML").remove(0);
        assert_eq!(readiness(&object), *expected, "{status}");
    }

    #[test]
    fn an_object_is_ready_when_its_latest_state_is() {
        let ready = "{type: Ready, status: 'True', observedGeneration: 2}";
        check(&format!("{{observedGeneration: 2, conditions: [{ready}]}}"), &Verdict::Done);
        check(&format!("{{conditions: [{ready}]}}"), &Verdict::NotYet);
        check("{observedGeneration: 2}", &Verdict::NotYet);
        let unnoted = "{type: Ready, status: 'True'}";
        check(&format!("{{observedGeneration: 1, conditions: [{unnoted}]}}"), &Verdict::NotYet);
        check(&format!("{{observedGeneration: 2, conditions: [{unnoted}]}}"), &Verdict::Done);
        let failing = "{type: Ready, status: 'False', observedGeneration: 2}";
        let retried = format!("{failing}, {{type: Reconciling, status: 'True'}}");
        check(&format!("{{observedGeneration: 2, conditions: [{retried}]}}"), &Verdict::NotYet);
        let stalled =
            format!("{failing}, {{type: Stalled, status: 'True', reason: R, message: no}}");
        check(
            &format!("{{observedGeneration: 2, conditions: [{stalled}]}}"),
            &Verdict::Failed("no".to_owned()),
        );
    }
}
