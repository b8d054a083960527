//! One line for people: what is waited for, and why it takes so long.

use std::borrow::Cow;

use flumen_object::Gvk;
use flumen_yaml::Node;

use crate::{
    Condition,
    facts::conditions,
    fields::{int_at, text_at},
};

/// Longer messages are cut: a line of progress is read at a glance.
const LONGEST_MESSAGE: usize = 160;

/// What an object still lacks, such as `2 of 3 replicas ready; pod web-x: ImagePullBackOff`.
///
/// `pods` are those that the object runs. `None` when nothing is amiss or nothing is known.
pub fn explain(object: &Node, pods: &[&Node]) -> Option<String> {
    let gvk = Gvk::of(object);
    let own = match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Pod") => pod(object).map(|trouble| trouble.words),
        ("", "PersistentVolumeClaim") => claim(object),
        ("batch", "Job") => job(object),
        ("apps", "Deployment" | "StatefulSet" | "ReplicaSet") => replicas(object),
        ("apps", "DaemonSet") => daemons(object),
        _ => unready(object),
    };
    let parts: Vec<String> = own.into_iter().chain(worst(pods)).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn count(object: &Node, field: &str) -> i64 {
    int_at(object, &["status", field]).unwrap_or(0)
}

/// The first of several counts that has not reached the number that is wanted.
fn lacking(want: i64, counts: &[(i64, &str)]) -> Option<String> {
    let (have, words) = counts.iter().find(|(have, _)| *have < want)?;
    Some(format!("{have} of {want} {words}"))
}

fn replicas(object: &Node) -> Option<String> {
    let want = int_at(object, &["spec", "replicas"]).unwrap_or(1);
    let updated = int_at(object, &["status", "updatedReplicas"]).unwrap_or(want);
    let counts =
        [(count(object, "readyReplicas"), "replicas ready"), (updated, "replicas updated")];
    lacking(want, &counts).or_else(|| {
        let surplus = count(object, "replicas").saturating_sub(want);
        (surplus > 0).then(|| format!("{surplus} replicas to be removed"))
    })
}

fn daemons(object: &Node) -> Option<String> {
    let want = int_at(object, &["status", "desiredNumberScheduled"])?;
    let updated = int_at(object, &["status", "updatedNumberScheduled"]).unwrap_or(want);
    lacking(want, &[(count(object, "numberReady"), "pods ready"), (updated, "pods updated")])
}

fn job(object: &Node) -> Option<String> {
    let conditions = conditions(object).ok()?;
    let with = |kind| conditions.iter().find(|condition| condition.is(kind, "True"));
    if let Some(failed) = with("Failed") {
        return Some(format!("failed: {}", reason_and_message(failed)));
    }
    if with("Complete").is_some() {
        return None;
    }
    let want = int_at(object, &["spec", "completions"])
        .or_else(|| int_at(object, &["spec", "parallelism"]))
        .unwrap_or(1);
    lacking(want, &[(count(object, "succeeded"), "completions")])
}

fn claim(object: &Node) -> Option<String> {
    let phase = text_at(object, &["status", "phase"]).unwrap_or_else(|| "unknown".into());
    (phase != "Bound").then(|| format!("not bound, phase {phase}"))
}

/// What objects of any other kind say of themselves.
fn unready(object: &Node) -> Option<String> {
    let conditions = conditions(object).ok()?;
    let find = |kind, status| conditions.iter().find(|condition| condition.is(kind, status));
    find("Stalled", "True")
        .or_else(|| find("Ready", "False"))
        .or_else(|| find("Reconciling", "True"))
        .or_else(|| find("Ready", "Unknown"))
        .map(reason_and_message)
}

fn reason_and_message(condition: &Condition) -> String {
    match (condition.reason.as_str(), one_line(&condition.message)) {
        ("", message) => message,
        (reason, message) if message.is_empty() => reason.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

fn one_line(message: &str) -> String {
    let mut line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = line.char_indices().nth(LONGEST_MESSAGE) {
        line.truncate(cut);
        line.push('…');
    }
    line
}

struct Trouble {
    words: String,
    /// A pod that is merely being started is named only if no other has a real problem.
    real: bool,
}

/// The first pod with the gravest trouble, and how many share its lot.
fn worst(pods: &[&Node]) -> Option<String> {
    let troubles: Vec<(&Node, Trouble)> =
        pods.iter().filter_map(|node| Some((*node, pod(node)?))).collect();
    let real = troubles.iter().any(|(_, trouble)| trouble.real);
    let mut gravest = troubles.iter().filter(|(_, trouble)| trouble.real == real);
    let (first, trouble) = gravest.next()?;
    let name = text_at(first, &["metadata", "name"]).unwrap_or_default();
    let others = match gravest.count() {
        0 => String::new(),
        1 => ", 1 other pod".to_owned(),
        others => format!(", {others} other pods"),
    };
    Some(format!("pod {name}: {}{others}", trouble.words))
}

fn pod(node: &Node) -> Option<Trouble> {
    let real = |words: String| Some(Trouble { words, real: true });
    let conditions = conditions(node).ok()?;
    let phase = text_at(node, &["status", "phase"]).unwrap_or_default();
    let ready = conditions.iter().any(|condition| condition.is("Ready", "True"));
    if ready || phase == "Succeeded" || node.at(&["metadata", "deletionTimestamp"]).is_some() {
        return None;
    }
    if phase == "Failed" {
        let reason = text_at(node, &["status", "reason"]).unwrap_or_else(|| "failed".into());
        return real(reason.into_owned());
    }
    let unscheduled = conditions.iter().find(|condition| condition.is("PodScheduled", "False"));
    if let Some(condition) = unscheduled {
        return real(reason_and_message(condition));
    }
    let containers = || {
        let lists = ["initContainerStatuses", "containerStatuses"];
        lists.into_iter().filter_map(|list| node.at(&["status", list])?.as_seq()).flatten()
    };
    if let Some(words) = containers().find_map(broken) {
        return real(words);
    }
    let starting = containers().find_map(waiting);
    Some(Trouble { words: starting.unwrap_or_else(|| "not ready".to_owned()), real: false })
}

fn waiting(container: &Node) -> Option<String> {
    text_at(container, &["state", "waiting", "reason"]).map(Cow::into_owned)
}

/// Why a container does not run although it should.
fn broken(container: &Node) -> Option<String> {
    if let Some(reason) = waiting(container) {
        if matches!(reason.as_str(), "ContainerCreating" | "PodInitializing") {
            return None;
        }
        let exit = int_at(container, &["lastState", "terminated", "exitCode"]);
        return Some(exit.map_or(reason.clone(), |code| format!("{reason}, exit code {code}")));
    }
    let code = int_at(container, &["state", "terminated", "exitCode"]).filter(|code| *code != 0)?;
    let reason = text_at(container, &["state", "terminated", "reason"]);
    Some(format!("{}, exit code {code}", reason.as_deref().unwrap_or("terminated")))
}

#[cfg(test)]
mod tests {
    use flumen_yaml::Node;

    use super::explain;

    fn read(yaml: &str) -> Node {
        let budget = flumen_yaml::Budget::default();
        flumen_yaml::read(&yaml.into(), 1, &budget).expect("YAML").pop().expect("a document")
    }

    #[track_caller]
    fn check(object: &str, pods: &[&str], expected: &str) {
        let pods: Vec<Node> = pods.iter().map(|pod| read(pod)).collect();
        let pods: Vec<&Node> = pods.iter().collect();
        assert_eq!(explain(&read(object), &pods).as_deref().unwrap_or("nothing"), expected);
    }

    const PULLING: &str = "{metadata: {name: web-x}, status: {phase: Pending, containerStatuses: [
        {state: {waiting: {reason: ImagePullBackOff}}}]}}";
    const STARTING: &str = "{metadata: {name: web-s}, status: {phase: Pending, containerStatuses: [
        {state: {waiting: {reason: ContainerCreating}}}]}}";
    const READY: &str = "{metadata: {name: web-r}, status: {phase: Running, conditions: [
        {type: Ready, status: 'True'}]}}";

    #[test]
    fn replicas_are_counted_and_the_worst_pod_is_named() {
        let web = "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 3},
            status: {replicas: 3, updatedReplicas: 3, readyReplicas: 2}}";
        check(web, &[], "2 of 3 replicas ready");
        let expected = "2 of 3 replicas ready; pod web-x: ImagePullBackOff";
        check(web, &[READY, STARTING, PULLING], expected);
        check(web, &[STARTING], "2 of 3 replicas ready; pod web-s: ContainerCreating");
        let expected = "2 of 3 replicas ready; pod web-x: ImagePullBackOff, 1 other pod";
        check(web, &[PULLING, PULLING], expected);
    }

    #[test]
    fn a_rollout_names_what_is_left_of_it() {
        let half = "{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 3},
            status: {replicas: 3, updatedReplicas: 1, readyReplicas: 3}}";
        check(half, &[], "1 of 3 replicas updated");
        let surplus = "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1},
            status: {replicas: 3, updatedReplicas: 1, readyReplicas: 1}}";
        check(surplus, &[], "2 replicas to be removed");
        let done =
            "{apiVersion: apps/v1, kind: ReplicaSet, status: {replicas: 1, readyReplicas: 1}}";
        check(done, &[READY], "nothing");
        let daemons = "{apiVersion: apps/v1, kind: DaemonSet,
            status: {desiredNumberScheduled: 4, updatedNumberScheduled: 4, numberReady: 1}}";
        check(daemons, &[], "1 of 4 pods ready");
    }

    #[test]
    fn pods_say_why_they_do_not_run() {
        let pod = |status: &str| {
            format!("{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, status: {status}}}")
        };
        let crashing = "{phase: Running, containerStatuses: [{state: {waiting: {
            reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 137}}}]}";
        check(&pod(crashing), &[], "CrashLoopBackOff, exit code 137");
        let init = "{phase: Pending, initContainerStatuses: [{state: {terminated: {
            exitCode: 2, reason: Error}}}]}";
        check(&pod(init), &[], "Error, exit code 2");
        let unschedulable = "{phase: Pending, conditions: [{type: PodScheduled, status: 'False',
            reason: Unschedulable, message: \"0/3 nodes are available:\\n no memory\"}]}";
        check(&pod(unschedulable), &[], "Unschedulable: 0/3 nodes are available: no memory");
        check(&pod("{phase: Failed, reason: Evicted}"), &[], "Evicted");
        check(&pod("{phase: Running}"), &[], "not ready");
        check(&pod("{phase: Succeeded}"), &[], "nothing");
    }

    #[test]
    fn jobs_and_claims_and_custom_resources_have_words_too() {
        let failed = "{apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Failed,
            status: 'True', reason: BackoffLimitExceeded, message: too many}]}}";
        check(failed, &[], "failed: BackoffLimitExceeded: too many");
        let running =
            "{apiVersion: batch/v1, kind: Job, spec: {completions: 3}, status: {succeeded: 1}}";
        check(running, &[], "1 of 3 completions");
        let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Pending}}";
        check(claim, &[], "not bound, phase Pending");
        let widget = "{apiVersion: example.com/v1, kind: Widget, status: {conditions: [
            {type: Reconciling, status: 'True', reason: Busy},
            {type: Ready, status: 'False', reason: NoQuota, message: ask for more}]}}";
        check(widget, &[], "NoQuota: ask for more");
        check("{apiVersion: v1, kind: ConfigMap}", &[], "nothing");
    }

    #[test]
    fn long_messages_are_cut() {
        let widget = format!(
            "{{apiVersion: e.com/v1, kind: W, status: {{conditions: [{{type: Ready, status: 'False',
            message: {}}}]}}}}",
            "ü".repeat(500)
        );
        check(&widget, &[], &format!("{}…", "ü".repeat(160)));
    }
}
