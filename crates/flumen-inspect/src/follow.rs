//! Following an object until it has reached a state.

use std::time::Duration;

use flumen_health::{Status, assess};
use flumen_kube::{Cluster as _, Event, ListOptions, ObjectName, WatchOptions};
use flumen_yaml::Node;
use futures_util::StreamExt as _;
use jiff::Timestamp;

use crate::{
    Error, Site,
    object::{Conditions, text_at},
    site::named,
};

/// Until a watch that the server has ended is started again.
const PAUSE: Duration = Duration::from_secs(1);

/// Judgement of one state of an object.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Done,
    NotYet,
    /// The object will not be done, with the reason.
    Failed(String),
}

impl Site {
    /// Returns the object as soon as `judge` says that it is done, or why it will not be.
    pub async fn follow(
        &self,
        object: ObjectName<'_>,
        judge: impl Fn(&Node) -> Verdict,
    ) -> Result<Node, Error> {
        let followed = tokio::time::timeout_at(self.deadline(), async {
            loop {
                match self.follow_once(object, &judge).await {
                    Ok(Some(done)) => return Ok(done),
                    // The server has ended the watch, or no longer has the revision that it started from.
                    Ok(None) => tokio::time::sleep(PAUSE).await,
                    Err(error) => return Err(error),
                }
            }
        });
        followed.await.unwrap_or(Err(Error::Timeout))
    }

    async fn follow_once(
        &self,
        object: ObjectName<'_>,
        judge: &impl Fn(&Node) -> Verdict,
    ) -> Result<Option<Node>, Error> {
        let ObjectName { resource, namespace, name } = object;
        let field_selector = named(name);
        let options = ListOptions {
            namespace: Some(namespace),
            field_selector: Some(&field_selector),
            ..ListOptions::default()
        };
        let list = self.client().list(resource, options).await?;
        let first = list.items.into_iter().next().ok_or_else(|| Error::gone(resource, name))?;
        if let Some(done) = decide(first, judge)? {
            return Ok(Some(done));
        }
        let from = WatchOptions { list: options, resource_version: &list.resource_version };
        let mut events = match self.client().watch(resource, from).await {
            Err(error) if is_transient(&error) => return Ok(None),
            events => events?,
        };
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Applied(object)) => {
                    if let Some(done) = decide(object, judge)? {
                        return Ok(Some(done));
                    }
                }
                Ok(Event::Deleted(_)) => return Err(Error::gone(resource, name)),
                Ok(Event::Bookmark { .. }) => {}
                Err(error) if is_transient(&error) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }
}

fn decide(object: Node, judge: &impl Fn(&Node) -> Verdict) -> Result<Option<Node>, Error> {
    match judge(&object) {
        Verdict::Done => Ok(Some(object)),
        Verdict::NotYet => Ok(None),
        Verdict::Failed(reason) => Err(Error::Failed(reason)),
    }
}

fn is_transient(error: &flumen_kube::Error) -> bool {
    use flumen_kube::Error;

    error.is_expired() || matches!(error, Error::Interrupted { .. } | Error::TimedOut { .. })
}

/// Judges by kstatus whether an object is current.
pub fn health(object: &Node) -> Verdict {
    match assess(object, Timestamp::now()) {
        Err(error) => Verdict::Failed(error.to_string()),
        Ok(health) => match health.status {
            Status::Current => Verdict::Done,
            Status::InProgress => Verdict::NotYet,
            _ => Verdict::Failed(health.message),
        },
    }
}

/// Like [`health`], as soon as the controller has observed the current generation and set the Ready condition.
pub fn readiness(object: &Node) -> Verdict {
    let number = |node: &Node, path: &[&str]| text_at(node, path).parse::<i64>().unwrap_or(0);
    let observed = number(object, &["status", "observedGeneration"]);
    let generation = number(object, &["metadata", "generation"]);
    let Some(ready) = Conditions::of(object).ready().filter(|_| observed >= 1) else {
        return Verdict::NotYet;
    };
    // Not every controller sets the generation of the condition.
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
