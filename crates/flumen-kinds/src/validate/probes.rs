//! How a container is asked whether it is well, and told what happens to it.

use flumen_fields::Path;
use serde_json::Value;

use super::format;
use super::report::Report;
use crate::read::Read;

const ONE_HANDLER: &str = "may not specify more than 1 handler type";

pub(super) fn liveness(e: &mut Report, at: &Path<'_>, probe: Option<&Value>) {
    let Some(probe) = probe else { return };
    check(e, at, probe);
    if probe.int("successThreshold") != 1 {
        e.invalid(&at.child("successThreshold"), probe.int("successThreshold"), "must be 1");
    }
}

pub(super) fn readiness(e: &mut Report, at: &Path<'_>, probe: Option<&Value>) {
    let Some(probe) = probe else { return };
    check(e, at, probe);
    if let Some(seconds) = probe.int_given("terminationGracePeriodSeconds") {
        let at = at.child("terminationGracePeriodSeconds");
        e.invalid(&at, seconds, "must not be set for readinessProbes");
    }
}

fn check(e: &mut Report, at: &Path<'_>, probe: &Value) {
    handler(e, at, probe, &["exec", "httpGet", "tcpSocket", "grpc"], None);
    let fields = [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ];
    for field in fields {
        e.not_negative(&at.child(field), probe.int(field));
    }
    if let Some(seconds) = probe.int_given("terminationGracePeriodSeconds")
        && seconds <= 0
    {
        let at = at.child("terminationGracePeriodSeconds");
        e.invalid(&at, seconds, "must be greater than 0");
    }
}

/// What is done: exactly one of these.
fn handler(e: &mut Report, at: &Path<'_>, of: &Value, kinds: &[&str], grace: Option<i64>) {
    let mut found = false;
    for kind in kinds {
        let Some(action) = of.some(kind) else { continue };
        let at = at.child(kind);
        if found {
            e.forbidden(&at, ONE_HANDLER);
            continue;
        }
        found = true;
        match *kind {
            "exec" => {
                if action.list("command").is_empty() {
                    e.required(&at.child("command"), "");
                }
            }
            "httpGet" => http_get(e, &at, action),
            "sleep" => sleep(e, &at, action, grace),
            _ => e.port_or_name(&at.child("port"), action.part("port")),
        }
    }
    if !found {
        e.required(at, "must specify a handler type");
    }
}

fn http_get(e: &mut Report, at: &Path<'_>, action: &Value) {
    e.filled(&at.child("path"), action.text("path"));
    e.port_or_name(&at.child("port"), action.part("port"));
    e.one_of(&at.child("scheme"), action.text("scheme"), &["HTTP", "HTTPS"]);
    for header in action.list("httpHeaders") {
        e.form(&at.child("httpHeaders"), header.text("name"), format::http_header);
    }
}

fn sleep(e: &mut Report, at: &Path<'_>, action: &Value, grace: Option<i64>) {
    let Some(grace) = grace else { return };
    let seconds = action.int("seconds");
    if !(0..=grace).contains(&seconds) {
        let detail =
            format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        e.invalid(at, seconds, detail);
    }
}

pub(super) fn lifecycle(e: &mut Report, at: &Path<'_>, lifecycle: &Value, grace: Option<i64>) {
    for hook in ["postStart", "preStop"] {
        if let Some(action) = lifecycle.some(hook) {
            let kinds = ["exec", "httpGet", "tcpSocket", "sleep"];
            handler(e, &at.child(hook), action, &kinds, grace);
        }
    }
}
