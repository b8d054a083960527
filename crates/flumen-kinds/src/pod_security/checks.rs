//! The controls of the standards, and those of the baseline level.

use std::collections::BTreeSet;

use serde_json::Value;

use super::restricted::{
    dropped_capabilities, non_root, privilege_escalation, set_seccomp, user, volume_types,
};

/// Something that a pod may not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// In few words.
    pub reason: &'static str,
    /// Where, and what to do about it.
    pub detail: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.reason, self.detail)
    }
}

/// One control, as the versions from one on and before another have it.
struct Check {
    is_restricted: bool,
    versions: std::ops::Range<u32>,
    run: fn(&Value, u32) -> Option<Violation>,
    /// Since when the restricted level has a stricter control in its place.
    replaced: Option<u32>,
}

const ALWAYS: std::ops::Range<u32> = 0..u32::MAX;

const fn baseline(run: fn(&Value, u32) -> Option<Violation>) -> Check {
    Check { is_restricted: false, versions: ALWAYS, run, replaced: None }
}

const fn restricted(since: u32, run: fn(&Value, u32) -> Option<Violation>) -> Check {
    Check { is_restricted: true, versions: since..u32::MAX, run, replaced: None }
}

/// In the order of messages.
const CHECKS: &[Check] = &[
    baseline(app_armor),
    Check { replaced: Some(22), ..baseline(capabilities) },
    baseline(host_namespaces),
    Check { replaced: Some(0), ..baseline(host_paths) },
    baseline(host_ports),
    Check { versions: 34..u32::MAX, ..baseline(probe_hosts) },
    baseline(privileged),
    Check { replaced: Some(35), ..baseline(proc_mount_unless_isolated) },
    baseline(selinux),
    Check { versions: 0..19, ..baseline(seccomp_annotations) },
    Check { versions: 19..u32::MAX, replaced: Some(19), ..baseline(seccomp) },
    baseline(sysctls),
    baseline(host_process),
    restricted(8, privilege_escalation),
    restricted(22, dropped_capabilities),
    restricted(35, proc_mount),
    restricted(0, volume_types),
    restricted(0, non_root),
    restricted(23, user),
    restricted(19, set_seccomp),
];

pub(super) fn violations(pod: &Value, is_restricted: bool, version: u32) -> Vec<Violation> {
    let applies = |check: &&Check| {
        check.versions.contains(&version)
            && (is_restricted || !check.is_restricted)
            && !(is_restricted && check.replaced.is_some_and(|since| version >= since))
    };
    CHECKS.iter().filter(applies).filter_map(|check| (check.run)(pod, version)).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "it is how checks end")]
pub(super) fn violation(reason: &'static str, detail: String) -> Option<Violation> {
    Some(Violation { reason, detail })
}

pub(super) fn items<'a>(of: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    of[list].as_array().into_iter().flatten()
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(|list| items(&pod["spec"], list))
}

/// The names of the containers that do something.
pub(super) fn those<'a>(pod: &'a Value, mut does: impl FnMut(&'a Value) -> bool) -> Vec<&'a str> {
    containers(pod).filter(|container| does(container)).map(|it| text(&it["name"])).collect()
}

pub(super) fn quoted<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|w| format!("\"{}\"", w.as_ref())).collect();
    words.join(", ")
}

pub(super) fn plural(one: &'static str, several: &'static str, count: usize) -> &'static str {
    if count == 1 { one } else { several }
}

/// `container "a"` or `containers "a", "b"`.
pub(super) fn named(names: &[&str]) -> String {
    format!("{} {}", plural("container", "containers", names.len()), quoted(names))
}

/// The pod itself and its containers, as far as they set something.
pub(super) fn setters(pod: bool, containers: &[&str]) -> Option<String> {
    match (pod, containers) {
        (false, []) => None,
        (true, []) => Some("pod".to_owned()),
        (false, names) => Some(named(names)),
        (true, names) => Some(format!("pod and {}", named(names))),
    }
}

pub(super) fn is_windows(pod: &Value) -> bool {
    pod["spec"]["os"]["name"] == "windows"
}

/// Pods whose users are not those of the host may do more, since 1.35.
pub(super) fn is_isolated(pod: &Value, version: u32) -> bool {
    version >= 35 && pod["spec"]["hostUsers"] == false
}

/// The type of a profile in a security context, if it is set to something.
pub(super) fn profile<'a>(of: &'a Value, field: &str) -> Option<&'a str> {
    let profile = &of["securityContext"][field];
    profile.is_object().then(|| text(&profile["type"]))
}

fn is_good_profile(profile: &str) -> bool {
    matches!(profile, "RuntimeDefault" | "Localhost")
}

fn app_armor(pod: &Value, _: u32) -> Option<Violation> {
    const ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
    let mut values = BTreeSet::new();
    let mut is_bad = |of: &Value| {
        let bad = profile(of, "appArmorProfile").filter(|profile| !is_good_profile(profile));
        bad.is_some_and(|profile| {
            values.insert(profile.to_owned());
            true
        })
    };
    let pod_is_bad = is_bad(&pod["spec"]);
    let bad = those(pod, &mut is_bad);
    let annotations = pod["metadata"]["annotations"].as_object().into_iter().flatten();
    let forbidden: Vec<String> = annotations
        .filter(|(key, _)| key.starts_with(ANNOTATION))
        .map(|(key, value)| (key, text(value)))
        .filter(|(_, value)| {
            !value.is_empty() && *value != "runtime/default" && !value.starts_with("localhost/")
        })
        .map(|(key, value)| format!("{key}={value:?}"))
        .collect();
    let mut who: Vec<String> = setters(pod_is_bad, &bad).into_iter().collect();
    if !forbidden.is_empty() {
        who.push(plural("annotation", "annotations", forbidden.len()).to_owned());
    }
    if who.is_empty() {
        return None;
    }
    let values: Vec<String> = values.into_iter().chain(forbidden).collect();
    let reason = plural("forbidden AppArmor profile", "forbidden AppArmor profiles", values.len());
    let who = who.join(" and ");
    violation(reason, format!("{who} must not set AppArmor profile type to {}", quoted(values)))
}

const DEFAULT_CAPABILITIES: &[&str] = &[
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Containers that add capabilities which are not allowed, and what they add.
pub(super) fn adding<'a>(pod: &'a Value, allowed: &[&str]) -> Option<String> {
    let mut capabilities = BTreeSet::new();
    let names = those(pod, |container: &'a Value| {
        let added = items(&container["securityContext"]["capabilities"], "add").map(text);
        let bad: Vec<&str> = added.filter(|added| !allowed.contains(added)).collect();
        capabilities.extend(bad.iter().copied());
        !bad.is_empty()
    });
    if names.is_empty() {
        return None;
    }
    let (names, capabilities) = (named(&names), quoted(capabilities));
    Some(format!("{names} must not include {capabilities} in securityContext.capabilities.add"))
}

fn capabilities(pod: &Value, _: u32) -> Option<Violation> {
    violation("non-default capabilities", adding(pod, DEFAULT_CAPABILITIES)?)
}

fn host_namespaces(pod: &Value, _: u32) -> Option<Violation> {
    let used: Vec<String> = ["hostNetwork", "hostPID", "hostIPC"]
        .into_iter()
        .filter(|field| pod["spec"][field] == true)
        .map(|field| format!("{field}=true"))
        .collect();
    if used.is_empty() {
        return None;
    }
    violation("host namespaces", used.join(", "))
}

fn host_paths(pod: &Value, _: u32) -> Option<Violation> {
    let volumes = items(&pod["spec"], "volumes").filter(|volume| volume["hostPath"].is_object());
    let names: Vec<&str> = volumes.map(|volume| text(&volume["name"])).collect();
    if names.is_empty() {
        return None;
    }
    let word = plural("volume", "volumes", names.len());
    violation("hostPath volumes", format!("{word} {}", quoted(names)))
}

fn host_ports(pod: &Value, _: u32) -> Option<Violation> {
    let mut ports = BTreeSet::new();
    let names = those(pod, |container| {
        let used = items(container, "ports").filter_map(|port| port["hostPort"].as_i64());
        let used: Vec<String> = used.filter(|port| *port != 0).map(|p| p.to_string()).collect();
        let is_bad = !used.is_empty();
        ports.extend(used);
        is_bad
    });
    if names.is_empty() {
        return None;
    }
    let uses = plural("uses", "use", names.len());
    let word = plural("hostPort", "hostPorts", ports.len());
    let ports: Vec<String> = ports.into_iter().collect();
    violation("hostPort", format!("{} {uses} {word} {}", named(&names), ports.join(", ")))
}

fn probe_hosts(pod: &Value, _: u32) -> Option<Violation> {
    let mut hosts = BTreeSet::new();
    let names = those(pod, |container| {
        let lifecycle = &container["lifecycle"];
        let probes = [
            &container["livenessProbe"],
            &container["readinessProbe"],
            &container["startupProbe"],
            &lifecycle["postStart"],
            &lifecycle["preStop"],
        ];
        let named = probes
            .into_iter()
            .flat_map(|probe| [&probe["httpGet"], &probe["tcpSocket"]])
            .map(|action| text(&action["host"]));
        let named: Vec<&str> = named.filter(|host| !host.is_empty()).collect();
        hosts.extend(named.iter().copied());
        !named.is_empty()
    });
    if names.is_empty() {
        return None;
    }
    let names: Vec<&str> = names.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let uses = plural("uses", "use", names.len());
    let word = plural("probe or lifecycle host", "probe or lifecycle hosts", hosts.len());
    let detail = format!("{} {uses} {word} {}", named(&names), quoted(hosts));
    violation("probe or lifecycle host", detail)
}

fn privileged(pod: &Value, _: u32) -> Option<Violation> {
    let names = those(pod, |container| container["securityContext"]["privileged"] == true);
    if names.is_empty() {
        return None;
    }
    let names = named(&names);
    violation("privileged", format!("{names} must not set securityContext.privileged=true"))
}

fn proc_mount(pod: &Value, _: u32) -> Option<Violation> {
    let mut kinds = BTreeSet::new();
    let names = those(pod, |container| {
        let kind = container["securityContext"]["procMount"].as_str();
        kind.filter(|kind| *kind != "Default").is_some_and(|kind| {
            kinds.insert(kind);
            true
        })
    });
    if names.is_empty() {
        return None;
    }
    let (names, kinds) = (named(&names), quoted(kinds));
    violation("procMount", format!("{names} must not set securityContext.procMount to {kinds}"))
}

fn proc_mount_unless_isolated(pod: &Value, version: u32) -> Option<Violation> {
    if is_isolated(pod, version) { None } else { proc_mount(pod, version) }
}

fn selinux(pod: &Value, version: u32) -> Option<Violation> {
    let (mut types, mut sets_user, mut sets_role) = (BTreeSet::new(), false, false);
    let mut is_bad = |of: &Value| {
        let options = &of["securityContext"]["seLinuxOptions"];
        let kind = text(&options["type"]);
        let is_known = matches!(kind, "" | "container_t" | "container_init_t" | "container_kvm_t")
            || (version >= 31 && kind == "container_engine_t");
        if !is_known {
            types.insert(kind.to_owned());
        }
        let (user, role) = (!text(&options["user"]).is_empty(), !text(&options["role"]).is_empty());
        sets_user |= user;
        sets_role |= role;
        !is_known || user || role
    };
    let pod_is_bad = is_bad(&pod["spec"]);
    let bad = those(pod, &mut is_bad);
    let who = setters(pod_is_bad, &bad)?;
    let mut what = Vec::new();
    if !types.is_empty() {
        what.push(format!("{} {}", plural("type", "types", types.len()), quoted(types)));
    }
    what.extend(sets_user.then(|| "user may not be set".to_owned()));
    what.extend(sets_role.then(|| "role may not be set".to_owned()));
    let what = what.join("; ");
    violation(
        "seLinuxOptions",
        format!("{who} set forbidden securityContext.seLinuxOptions: {what}"),
    )
}

fn seccomp_annotations(pod: &Value, _: u32) -> Option<Violation> {
    let annotations = &pod["metadata"]["annotations"];
    let of_pod = "seccomp.security.alpha.kubernetes.io/pod".to_owned();
    let of_containers = containers(pod).map(|container| {
        format!("container.seccomp.security.alpha.kubernetes.io/{}", text(&container["name"]))
    });
    let forbidden: BTreeSet<String> = std::iter::once(of_pod)
        .chain(of_containers)
        .filter_map(|key| annotations[&key].as_str().map(|value| (key, value)))
        .filter(|(_, value)| {
            !matches!(*value, "runtime/default" | "docker/default")
                && !value.starts_with("localhost/")
        })
        .map(|(key, value)| format!("{key}={value:?}"))
        .collect();
    if forbidden.is_empty() {
        return None;
    }
    let word = plural("annotation", "annotations", forbidden.len());
    let forbidden: Vec<String> = forbidden.into_iter().collect();
    violation("seccompProfile", format!("forbidden {word} {}", forbidden.join(", ")))
}

pub(super) fn seccomp(pod: &Value, _: u32) -> Option<Violation> {
    let mut values = BTreeSet::new();
    let mut is_bad = |of: &Value| {
        let bad = profile(of, "seccompProfile").filter(|profile| !is_good_profile(profile));
        bad.is_some_and(|profile| {
            values.insert(profile.to_owned());
            true
        })
    };
    let pod_is_bad = is_bad(&pod["spec"]);
    let bad = those(pod, &mut is_bad);
    let who = setters(pod_is_bad, &bad)?;
    let what = "must not set securityContext.seccompProfile.type to";
    violation("seccompProfile", format!("{who} {what} {}", quoted(values)))
}

/// With the version since which they are safe.
const SAFE_SYSCTLS: &[(&str, u32)] = &[
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
];

fn sysctls(pod: &Value, version: u32) -> Option<Violation> {
    let is_safe =
        |name: &&str| SAFE_SYSCTLS.iter().any(|(safe, since)| safe == name && version >= *since);
    let names = items(&pod["spec"]["securityContext"], "sysctls").map(|it| text(&it["name"]));
    let unsafe_ones: Vec<&str> = names.filter(|name| !is_safe(name)).collect();
    if unsafe_ones.is_empty() {
        return None;
    }
    violation("forbidden sysctls", unsafe_ones.join(", "))
}

fn host_process(pod: &Value, _: u32) -> Option<Violation> {
    let is_bad = |of: &Value| of["securityContext"]["windowsOptions"]["hostProcess"] == true;
    let who = setters(is_bad(&pod["spec"]), &those(pod, is_bad))?;
    let what = "must not set securityContext.windowsOptions.hostProcess=true";
    violation("hostProcess", format!("{who} {what}"))
}
