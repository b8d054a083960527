//! What a pod and its containers may do on their node.

use std::collections::BTreeSet;

use flumen_fields::Path;
use serde_json::Value;

use super::report::Report;
use super::{containers, format, volumes};
use crate::internal;
use crate::read::Read;

const WINDOWS: &str = "cannot be set for a windows pod";
const LINUX: &str = "windows options cannot be set for a linux pod";

fn id(e: &mut Report, at: &Path<'_>, context: &Value, field: &str) {
    if let Some(value) = context.int_given(field) {
        e.in_range(&at.child(field), value, 0, i64::from(i32::MAX));
    }
}

pub(super) fn of_container(e: &mut Report, at: &Path<'_>, context: &Value, host_users: bool) {
    id(e, at, context, "runAsUser");
    id(e, at, context, "runAsGroup");
    if let Some(mount) = context.text_given("procMount") {
        let at = at.child("procMount");
        e.one_of(&at, mount, &["Default", "Unmasked"]);
        if host_users && mount == "Unmasked" {
            e.invalid(&at, mount, "`hostUsers` must be false to use `Unmasked`");
        }
    }
    seccomp(e, &at.child("seccompProfile"), context.some("seccompProfile"));
    if context.truth_given("allowPrivilegeEscalation") == Some(false) {
        let shown = || internal::shown("core.SecurityContext", context);
        if context.truth("privileged") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            e.invalid(at, shown(), detail);
        }
        for _ in context.part("capabilities").texts("add").filter(|cap| *cap == "CAP_SYS_ADMIN") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            e.invalid(at, shown(), detail);
        }
    }
    windows_options(e, &at.child("windowsOptions"), context.some("windowsOptions"));
    app_armor(e, &at.child("appArmorProfile"), context.some("appArmorProfile"));
}

pub(super) fn of_pod(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let Some(context) = spec.some("securityContext") else { return };
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(e, at, context, field);
    }
    let groups = at.child("supplementalGroups");
    for (n, group) in context.list("supplementalGroups").iter().enumerate() {
        let group = group.as_i64().unwrap_or_default();
        e.in_range(&groups.index(n), group, 0, i64::from(i32::MAX));
    }
    if spec.truth("shareProcessNamespace") && spec.truth("hostPID") {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        e.invalid(&at.child("shareProcessNamespace"), true, detail);
    }
    sysctls(e, &at.child("sysctls"), spec, context.list("sysctls"));
    let policy = context.text_given("fsGroupChangePolicy");
    e.one_of_if_given(&at.child("fsGroupChangePolicy"), policy, &["Always", "OnRootMismatch"]);
    seccomp(e, &at.child("seccompProfile"), context.some("seccompProfile"));
    windows_options(e, &at.child("windowsOptions"), context.some("windowsOptions"));
    app_armor(e, &at.child("appArmorProfile"), context.some("appArmorProfile"));
    let policy = context.text_given("supplementalGroupsPolicy");
    e.one_of_if_given(&at.child("supplementalGroupsPolicy"), policy, &["Merge", "Strict"]);
    let policy = context.text_given("seLinuxChangePolicy");
    e.one_of_if_given(&at.child("seLinuxChangePolicy"), policy, &["Recursive"]);
}

fn sysctls(e: &mut Report, at: &Path<'_>, spec: &Value, sysctls: &[Value]) {
    let mut names = BTreeSet::new();
    for (n, sysctl) in sysctls.iter().enumerate() {
        let at = at.index(n);
        let at = at.child("name");
        let name = sysctl.text("name");
        if name.is_empty() {
            e.required(&at, "");
        } else if !format::is_sysctl(name) {
            let detail = r"must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
            e.invalid(&at, name, detail);
        } else if names.contains(name) {
            e.duplicate(&at, name);
        }
        let plain = name.replace('/', ".");
        let of_ipc = plain.starts_with("kernel.shm")
            || plain.starts_with("kernel.msg")
            || plain == "kernel.sem"
            || plain.starts_with("fs.mqueue.");
        if spec.truth("hostNetwork") && plain.starts_with("net.") {
            e.invalid(&at, name, "may not be specified when 'hostNetwork' is true");
        } else if spec.truth("hostIPC") && of_ipc {
            e.invalid(&at, name, "may not be specified when 'hostIPC' is true");
        }
        names.insert(name);
    }
}

fn seccomp(e: &mut Report, at: &Path<'_>, profile: Option<&Value>) {
    let Some(profile) = profile else { return };
    let of = profile.text("type");
    let local_at = at.child("localhostProfile");
    match of {
        "Localhost" | "RuntimeDefault" | "Unconfined" => {}
        "" => e.required(&at.child("type"), "type is required when seccompProfile is set"),
        other => {
            let known = ["Localhost", "RuntimeDefault", "Unconfined"];
            e.not_supported(&at.child("type"), other, &known);
        }
    }
    match profile.text_given("localhostProfile") {
        None if of == "Localhost" => {
            e.required(&local_at, "must be set when seccomp type is Localhost");
        }
        Some(path) if of == "Localhost" => volumes::descending(e, &local_at, path),
        Some(_) => {
            let shown = internal::shown("core.SeccompProfile", profile);
            e.invalid(&local_at, shown, "can only be set when seccomp type is Localhost");
        }
        None => {}
    }
}

fn app_armor(e: &mut Report, at: &Path<'_>, profile: Option<&Value>) {
    let Some(profile) = profile else { return };
    let local_at = at.child("localhostProfile");
    let local = profile.text_given("localhostProfile");
    let needed = "must be set when AppArmor type is Localhost";
    match (profile.text("type"), local) {
        ("Localhost", None) => e.required(&local_at, needed),
        ("Localhost", Some(path)) => {
            if path.trim() != path {
                e.invalid(&local_at, path, "must not be padded with whitespace");
            } else if path.is_empty() {
                e.required(&local_at, needed);
            }
            if path.len() > 4095 {
                e.too_long(&local_at, 4095);
            }
        }
        ("RuntimeDefault" | "Unconfined", Some(path)) => {
            e.invalid(&local_at, path, "can only be set when AppArmor type is Localhost");
        }
        ("RuntimeDefault" | "Unconfined", None) => {}
        ("", _) => e.required(&at.child("type"), "type is required when appArmorProfile is set"),
        (other, _) => {
            let known = ["Localhost", "RuntimeDefault", "Unconfined"];
            e.not_supported(&at.child("type"), other, &known);
        }
    }
}

fn windows_options(e: &mut Report, at: &Path<'_>, options: Option<&Value>) {
    let Some(options) = options else { return };
    if let Some(name) = options.text_given("gmsaCredentialSpecName") {
        e.form(&at.child("gmsaCredentialSpecName"), name, format::dns_subdomain);
    }
    if let Some(spec) = options.text_given("gmsaCredentialSpec") {
        let at = at.child("gmsaCredentialSpec");
        if spec.is_empty() {
            e.invalid(&at, spec, "gmsaCredentialSpec cannot be an empty string");
        } else if spec.len() > 64 * 1024 {
            e.invalid(&at, spec, "gmsaCredentialSpec size must be under 64 KiB");
        }
    }
    if let Some(name) = options.text_given("runAsUserName") {
        windows_user(e, &at.child("runAsUserName"), name);
    }
}

fn windows_user(e: &mut Report, at: &Path<'_>, name: &str) {
    if name.is_empty() {
        return e.invalid(at, name, "runAsUserName cannot be an empty string");
    }
    if name.chars().any(|c| c.is_ascii_control()) {
        return e.invalid(at, name, "runAsUserName cannot contain control characters");
    }
    if name.matches('\\').count() > 1 {
        return e.invalid(at, name, "runAsUserName cannot contain more than one backslash");
    }
    let (domain, user) = match name.split_once('\\') {
        Some((domain, user)) => (Some(domain), user),
        None => (None, name),
    };
    if let Some(domain) = domain {
        if domain.len() >= 256 {
            let detail = "runAsUserName's Domain length must be under 256 characters";
            e.invalid(at, name, detail);
        }
        let forbidden = |c: char| "\\/:*?\"<>|".contains(c);
        let netbios = (1..=15).contains(&domain.chars().count())
            && !domain.starts_with('.')
            && !domain.contains(forbidden);
        let label =
            |label: &str| label.len() <= 63 && format::is_subdomain(&label.to_ascii_lowercase());
        if !netbios && !domain.split('.').all(label) {
            let detail = "runAsUserName's Domain doesn't match the NetBios nor the DNS format";
            e.invalid(at, name, detail);
        }
    }
    if user.is_empty() {
        e.invalid(at, name, "runAsUserName's User cannot be empty");
    } else if user.len() > 104 {
        let detail = "runAsUserName's User length must not be longer than 104 characters";
        e.invalid(at, name, detail);
    }
    if !user.is_empty() && user.chars().all(|c| matches!(c, '.' | ' ')) {
        e.invalid(at, name, "runAsUserName's User cannot contain only periods or spaces");
    }
    if user.contains(|c: char| "\"/\\:;|=,+*?<>@[]".contains(c)) {
        let detail =
            "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]";
        e.invalid(at, name, detail);
    }
}

/// Containers that are processes of a Windows host: all of them or none.
pub(super) fn host_process(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let option = |context: &Value| context.part("windowsOptions").truth_given("hostProcess");
    let of_pod = option(spec.part("securityContext"));
    let (mut all, mut found) = (0, 0);
    for (list, n, container) in containers::visit(spec) {
        all += 1;
        let own = option(container.part("securityContext"));
        if let (Some(of_pod), Some(own)) = (of_pod, own)
            && of_pod != own
        {
            let detail = format!(
                "pod hostProcess value must be identical if both are specified, was {of_pod}"
            );
            let at = at.child(list);
            let at = at.index(n);
            let at = at.child("securityContext");
            e.invalid(&at.child("windowsOptions").child("hostProcess"), own, detail);
        }
        found += i32::from(own.or(of_pod) == Some(true));
    }
    if found == 0 {
        return;
    }
    if found != all {
        let detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        e.invalid(at, "", detail);
    }
    if !spec.truth("hostNetwork") {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        e.invalid(&at.child("hostNetwork"), false, detail);
    }
}

/// What a pod of one operating system cannot have.
pub(super) fn operating_system(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let Some(os) = spec.some("os") else { return };
    match os.text("name") {
        "" => e.required(&at.child("os").child("name"), ""),
        "linux" => linux(e, at, spec),
        "windows" => windows(e, at, spec),
        other => e.not_supported(&at.child("os"), other, &["linux", "windows"]),
    }
}

fn linux(e: &mut Report, at: &Path<'_>, spec: &Value) {
    if spec.part("securityContext").some("windowsOptions").is_some() {
        e.forbidden(&at.child("securityContext").child("windowsOptions"), LINUX);
    }
    for (list, n, container) in containers::visit(spec) {
        if container.part("securityContext").some("windowsOptions").is_some() {
            let at = at.child(list);
            let at = at.index(n);
            e.forbidden(&at.child("securityContext").child("windowsOptions"), LINUX);
        }
    }
}

fn windows(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let context = spec.part("securityContext");
    let of_pod = [
        ("appArmorProfile", false),
        ("seLinuxOptions", false),
        ("hostUsers", true),
        ("hostPID", true),
        ("hostIPC", true),
        ("seccompProfile", false),
        ("fsGroup", false),
        ("fsGroupChangePolicy", false),
        ("sysctls", false),
        ("shareProcessNamespace", true),
        ("runAsUser", false),
        ("runAsGroup", false),
        ("supplementalGroups", false),
        ("supplementalGroupsPolicy", false),
        ("seLinuxChangePolicy", false),
    ];
    for (field, of_spec) in of_pod {
        let set = match field {
            "hostPID" | "hostIPC" => spec.truth(field),
            _ if of_spec => spec.some(field).is_some(),
            _ => context.some(field).is_some(),
        };
        if set && of_spec {
            e.forbidden(&at.child(field), WINDOWS);
        } else if set {
            e.forbidden(&at.child("securityContext").child(field), WINDOWS);
        }
    }
    let of_container = [
        "appArmorProfile",
        "seLinuxOptions",
        "seccompProfile",
        "capabilities",
        "readOnlyRootFilesystem",
        "privileged",
        "allowPrivilegeEscalation",
        "procMount",
        "runAsUser",
        "runAsGroup",
    ];
    for (list, n, container) in containers::visit(spec) {
        let context = container.part("securityContext");
        for field in of_container {
            if context.some(field).is_some() {
                let at = at.child(list);
                let at = at.index(n);
                e.forbidden(&at.child("securityContext").child(field), WINDOWS);
            }
        }
    }
}

/// Users of the pod that are not users of the host.
pub(super) fn user_namespace(e: &mut Report, at: &Path<'_>, spec: &Value) {
    if spec.truth_given("hostUsers") != Some(false) {
        return;
    }
    let detail = "when `hostUsers` is false";
    for (field, shown) in
        [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")]
    {
        if spec.truth(field) {
            e.forbidden(&at.child(shown), detail);
        }
    }
    for (list, n, container) in containers::visit(spec) {
        if !container.list("volumeDevices").is_empty() {
            e.forbidden(&at.child(list).index(n).child("volumeDevices"), detail);
        }
    }
}
