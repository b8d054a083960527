//! Devices that pods ask for: classes of them, claims to them, and what is there.

use std::collections::{BTreeMap, BTreeSet};

use flumen_cel::{Dialect, Program, Type};
use flumen_fields::{FieldError, Path};
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::report::{IMMUTABLE, Report};
use super::{format, selector, sources};
use crate::internal;
use crate::read::Read;

const LIST_LIMIT: usize = 32;
const ALTERNATIVES_LIMIT: usize = 8;
const EXPRESSION_LIMIT: usize = 10 * 1024;
const PARAMETERS_LIMIT: usize = 10 * 1024;
const DEVICES_LIMIT: usize = 128;
const FACTS_LIMIT: usize = 32;
const USERS_LIMIT: usize = 256;
const VALUE_LIMIT: usize = 64;
const ID_LIMIT: usize = 32;
const POOL_LIMIT: usize = 253;
const MODES: [&str; 2] = ["All", "ExactCount"];
const ONE_KIND: &str = "exactly one of `exactly` or `firstAvailable` is required";
const PLACES: &str =
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

pub(super) fn class(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    let at = Path::new("spec");
    let spec = object.part("spec");
    selectors(e, &at, spec);
    configurations(e, &at, spec, |_, _, _| {});
}

pub(super) fn class_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check(e, new, Scope::Cluster, Naming::SUBDOMAIN);
    meta::check_update(e, new, old);
    let at = Path::new("spec");
    selectors(e, &at, new.part("spec"));
    configurations(e, &at, new.part("spec"), |_, _, _| {});
}

pub(super) fn claim(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    let at = Path::new("spec");
    devices(e, &at.child("devices"), object.part("spec").part("devices"));
}

pub(super) fn claim_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check(e, new, Scope::Namespaced, Naming::SUBDOMAIN);
    meta::check_update(e, new, old);
    if new.part("spec") != old.part("spec") {
        let shown = internal::shown("resource.ResourceClaimSpec", new.part("spec"));
        e.invalid(&Path::new("spec"), shown, IMMUTABLE);
    }
}

pub(super) fn claim_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let at = Path::new("status");
    let status = new.part("status");
    let users_at = at.child("reservedFor");
    let users = status.list("reservedFor");
    if users.len() > USERS_LIMIT {
        e.push(FieldError::too_many(&users_at, users.len(), USERS_LIMIT));
    } else {
        for (n, user) in users.iter().enumerate() {
            for field in ["resource", "name", "uid"] {
                e.filled(&users_at.index(n).child(field), user.text(field));
            }
        }
        unique(e, &users_at, users.iter().map(|user| user.text("uid")));
    }
    let allocation = status.some("allocation");
    if !users.is_empty() && allocation.is_none() {
        e.forbidden(&users_at, "may not be specified when `allocated` is not set");
    }
    let was = old.part("status");
    if !users.is_empty()
        && allocation.is_some()
        && new.part("metadata").some("deletionTimestamp").is_some()
        && users.iter().any(|user| !was.list("reservedFor").contains(user))
    {
        let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
        e.forbidden(&users_at, detail);
    }
    let at = at.child("allocation");
    match (allocation, was.some("allocation")) {
        (Some(now), Some(then)) if now != then => e.invalid(&at, now.clone(), IMMUTABLE),
        (Some(now), None) => {
            let names = Names::of(new.part("spec").part("devices"));
            allocated(e, &at, now, &names);
        }
        _ => {}
    }
}

/// What was found for a claim.
fn allocated(e: &mut Report, at: &Path<'_>, allocation: &Value, names: &Names<'_>) {
    let devices_at = at.child("devices");
    let devices = allocation.part("devices");
    let results_at = devices_at.child("results");
    for (n, result) in devices.list("results").iter().enumerate() {
        let at = results_at.index(n);
        names.check(e, &at.child("request"), result.text("request"));
        sources::csi_driver(e, &at.child("driver"), result.text("driver"));
        pool_name(e, &at.child("pool"), result.text("pool"));
        e.form(&at.child("device"), result.text("device"), format::dns_label);
    }
    configurations(e, &devices_at, devices, |e, at, config| {
        e.choice(&at.child("source"), config.text("source"), &["FromClaim", "FromClass"]);
        names.check_all(e, at, config);
    });
    if let Some(nodes) = allocation.some("nodeSelector") {
        selector::nodes(e, &at.child("nodeSelector"), nodes);
    }
}

pub(super) fn template(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    let at = Path::new("spec");
    let spec = object.part("spec");
    meta::template(e, &at.child("metadata"), spec.part("metadata"));
    let at = at.child("spec");
    devices(e, &at.child("devices"), spec.part("spec").part("devices"));
}

pub(super) fn template_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    if new.part("spec") != old.part("spec") {
        let shown = internal::shown("resource.ResourceClaimTemplateSpec", new.part("spec"));
        e.invalid(&Path::new("spec"), shown, IMMUTABLE);
    }
}

/// What a claim asks for.
fn devices(e: &mut Report, at: &Path<'_>, claim: &Value) {
    let names = Names::of(claim);
    let requests = claim.list("requests");
    let requests_at = at.child("requests");
    if is_short(e, &requests_at, requests, LIST_LIMIT) {
        for (n, item) in requests.iter().enumerate() {
            request(e, &requests_at.index(n), item);
        }
        unique(e, &requests_at, requests.iter().map(|request| request.text("name")));
    }
    let constraints_at = at.child("constraints");
    let constraints = claim.list("constraints");
    if is_short(e, &constraints_at, constraints, LIST_LIMIT) {
        for (n, constraint) in constraints.iter().enumerate() {
            let at = constraints_at.index(n);
            names.check_all(e, &at, constraint);
            match constraint.text_given("matchAttribute") {
                Some(name) => fully_qualified(e, &at.child("matchAttribute"), name),
                None => e.required(&at.child("matchAttribute"), ""),
            }
        }
    }
    configurations(e, at, claim, |e, at, config| names.check_all(e, at, config));
}

fn request(e: &mut Report, at: &Path<'_>, request: &Value) {
    e.form(&at.child("name"), request.text("name"), format::dns_label);
    let alternatives = request.list("firstAvailable");
    match request.some("exactly") {
        None if alternatives.is_empty() => e.required(at, ONE_KIND),
        Some(_) if !alternatives.is_empty() => {
            let detail = format!("{ONE_KIND}, but multiple fields are set");
            e.invalid(at, Value::Null, detail);
        }
        Some(exactly) => wanted(e, &at.child("exactly"), exactly),
        None => {
            let at = at.child("firstAvailable");
            if is_short(e, &at, alternatives, ALTERNATIVES_LIMIT) {
                for (n, alternative) in alternatives.iter().enumerate() {
                    let at = at.index(n);
                    e.form(&at.child("name"), alternative.text("name"), format::dns_label);
                    wanted(e, &at, alternative);
                }
                unique(e, &at, alternatives.iter().map(|of| of.text("name")));
            }
        }
    }
}

/// The class, the properties and the number of devices.
fn wanted(e: &mut Report, at: &Path<'_>, request: &Value) {
    let class = request.text("deviceClassName");
    e.required_form(&at.child("deviceClassName"), class, format::dns_subdomain);
    selectors(e, at, request);
    let (mode, count) = (request.text("allocationMode"), request.int("count"));
    let count_at = at.child("count");
    match mode {
        "All" if count != 0 => {
            let detail = format!("must not be specified when allocationMode is '{mode}'");
            e.invalid(&count_at, count, detail);
        }
        "ExactCount" => e.positive(&count_at, count),
        _ => e.one_of(&at.child("allocationMode"), mode, &MODES),
    }
}

/// The requests of a claim, each with its alternatives.
struct Names<'a>(BTreeMap<&'a str, BTreeSet<&'a str>>);

impl<'a> Names<'a> {
    fn of(claim: &'a Value) -> Self {
        let requests = claim.list("requests").iter().map(|request| {
            let alternatives = request.list("firstAvailable").iter();
            (request.text("name"), alternatives.map(|of| of.text("name")).collect())
        });
        Self(requests.collect())
    }

    fn has(&self, name: &str) -> bool {
        match name.split_once('/') {
            None => self.0.contains_key(name),
            Some((name, of)) => self.0.get(name).is_some_and(|known| known.contains(of)),
        }
    }

    fn check(&self, e: &mut Report, at: &Path<'_>, name: &str) {
        let detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
        if name.split('/').count() > 2 {
            return e.invalid(at, name, detail);
        }
        for part in name.split('/') {
            e.form(at, part, format::dns_label);
        }
        if !self.has(name) {
            e.invalid(at, name, detail);
        }
    }

    /// The requests that something of a claim is about.
    fn check_all(&self, e: &mut Report, at: &Path<'_>, of: &Value) {
        let at = at.child("requests");
        if is_short(e, &at, of.list("requests"), LIST_LIMIT) {
            for (n, name) in of.texts("requests").enumerate() {
                self.check(e, &at.index(n), name);
            }
            unique(e, &at, of.texts("requests"));
        }
    }
}

fn selectors(e: &mut Report, at: &Path<'_>, parent: &Value) {
    let at = at.child("selectors");
    let selectors = parent.list("selectors");
    if !is_short(e, &at, selectors, LIST_LIMIT) {
        return;
    }
    for (n, selector) in selectors.iter().enumerate() {
        let at = at.index(n);
        let at = at.child("cel");
        let Some(cel) = selector.some("cel") else {
            e.required(&at, "");
            continue;
        };
        let (at, source) = (at.child("expression"), cel.text("expression"));
        if source.len() > EXPRESSION_LIMIT {
            e.too_long(&at, EXPRESSION_LIMIT);
        } else if let Some(detail) = expression_problem(source) {
            e.invalid(&at, source, detail);
        }
    }
}

/// Why an expression cannot select devices.
fn expression_problem(source: &str) -> Option<String> {
    // A macro that only these expressions have, and that is not read here.
    if source.contains("cel.bind") {
        return None;
    }
    let facts = |of: Type| Type::map(Type::Text, Type::map(Type::Text, of));
    let device = [
        ("driver", Type::Text),
        ("attributes", facts(Type::Dyn)),
        ("capacity", facts(Type::Library("kubernetes.Quantity"))),
    ];
    let device = Type::record("kubernetes.DRADevice", device);
    match Program::compile(source, &[("device", device)], Dialect::Kubernetes) {
        Err(error) => Some(format!("compilation failed: {error}")),
        Ok(program) => match program.result() {
            // What an attribute is shows when it is there.
            Type::Bool | Type::Dyn => None,
            other => {
                Some(format!("must evaluate to bool or the unknown type, not {}", other.declared()))
            }
        },
    }
}

/// Settings for drivers, of which more than that may be asked.
fn configurations(
    e: &mut Report,
    at: &Path<'_>,
    parent: &Value,
    more: impl Fn(&mut Report, &Path<'_>, &Value),
) {
    let at = at.child("config");
    let configurations = parent.list("config");
    if !is_short(e, &at, configurations, LIST_LIMIT) {
        return;
    }
    for (n, config) in configurations.iter().enumerate() {
        let at = at.index(n);
        more(e, &at, config);
        let at = at.child("opaque");
        let Some(opaque) = config.some("opaque") else {
            e.required(&at, "");
            continue;
        };
        sources::csi_driver(e, &at.child("driver"), opaque.text("driver"));
        let at = at.child("parameters");
        match opaque.some("parameters") {
            None => e.required(&at, ""),
            Some(found) if found.to_string().len() > PARAMETERS_LIMIT => {
                e.too_long(&at, PARAMETERS_LIMIT);
            }
            Some(Value::Object(_)) => {}
            Some(_) => e.invalid(&at, "<value omitted>", "must be a valid JSON object"),
        }
    }
}

pub(super) fn slice(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    slice_spec(e, object.part("spec"), None);
}

pub(super) fn slice_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    slice_spec(e, new.part("spec"), Some(old.part("spec")));
}

fn slice_spec(e: &mut Report, spec: &Value, old: Option<&Value>) {
    let at = Path::new("spec");
    sources::csi_driver(e, &at.child("driver"), spec.text("driver"));
    let (pool, pool_at) = (spec.part("pool"), at.child("pool"));
    pool_name(e, &pool_at.child("name"), pool.text("name"));
    e.positive(&pool_at.child("resourceSliceCount"), pool.int("resourceSliceCount"));
    if pool.int("generation") < 0 {
        let detail = "must be greater than or equal to zero";
        e.invalid(&pool_at.child("generation"), pool.int("generation"), detail);
    }
    if let Some(old) = old {
        let was = old.part("pool").text("name");
        e.immutable_text(&pool_at.child("name"), pool.text("name"), was);
        e.immutable_text(&at.child("driver"), spec.text("driver"), old.text("driver"));
        e.immutable(&at.child("nodeName"), spec.part("nodeName"), old.part("nodeName"));
    }
    places(e, &at, spec);
    let devices_at = at.child("devices");
    let devices = spec.list("devices");
    if is_short(e, &devices_at, devices, DEVICES_LIMIT) {
        for (n, item) in devices.iter().enumerate() {
            device(e, &devices_at.index(n), item);
        }
        unique(e, &devices_at, devices.iter().map(|device| device.text("name")));
    }
}

/// The nodes that have the devices.
fn places(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let mut set = Vec::new();
    let name_at = at.child("nodeName");
    match spec.text_given("nodeName") {
        None => {}
        Some("") => {
            e.invalid(&name_at, "", "must be either unset or set to a non-empty string");
        }
        Some(name) => {
            set.push("`nodeName`");
            e.form(&name_at, name, format::dns_subdomain);
        }
    }
    if let Some(nodes) = spec.some("nodeSelector") {
        set.push("`nodeSelector`");
        let at = at.child("nodeSelector");
        selector::nodes(e, &at, nodes);
        let terms = nodes.list("nodeSelectorTerms");
        if terms.len() != 1 {
            let shown = internal::shown_list("core.NodeSelectorTerm", terms);
            let detail = "must have exactly one node selector term";
            e.invalid(&at.child("nodeSelectorTerms"), shown, detail);
        }
    }
    match spec.truth_given("allNodes") {
        None => {}
        Some(true) => set.push("`allNodes`"),
        Some(false) => {
            e.invalid(&at.child("allNodes"), false, "must be either unset or set to true");
        }
    }
    match set.as_slice() {
        [] => e.required(at, PLACES),
        [_] => {}
        several => {
            let shown = format!("{{{}}}", several.join(", "));
            e.invalid(at, shown, format!("{PLACES}, but multiple fields are set"));
        }
    }
}

fn device(e: &mut Report, at: &Path<'_>, device: &Value) {
    e.form(&at.child("name"), device.text("name"), format::dns_label);
    let (attributes, capacity) = (device.map("attributes"), device.map("capacity"));
    let facts = attributes.len() + capacity.len();
    if facts > FACTS_LIMIT {
        let detail =
            format!("the total number of attributes and capacities must not exceed {FACTS_LIMIT}");
        e.invalid(at, facts, detail);
    }
    let attributes_at = at.child("attributes");
    for (name, of) in attributes {
        let at = attributes_at.key(name);
        qualified(e, &at, name);
        attribute(e, &at, of);
    }
    let capacity_at = at.child("capacity");
    for name in capacity.keys() {
        qualified(e, &capacity_at.key(name), name);
    }
}

fn attribute(e: &mut Report, at: &Path<'_>, of: &Value) {
    let too_long = |e: &mut Report, at: &Path<'_>, value: &str| {
        if value.len() > VALUE_LIMIT {
            e.too_long(at, VALUE_LIMIT);
        }
    };
    if let Some(text) = of.text_given("string") {
        too_long(e, &at.child("string"), text);
    }
    if let Some(version) = of.text_given("version") {
        let at = at.child("version");
        if semver::Version::parse(version).is_err() {
            e.invalid(&at, version, "must be a string compatible with semver.org spec 2.0.0");
        }
        too_long(e, &at, version);
    }
    let fields = ["int", "bool", "string", "version"];
    match fields.iter().filter(|field| of.some(field).is_some()).count() {
        0 => e.invalid(at, "", "exactly one value must be specified"),
        1 => {}
        _ => {
            let shown = internal::shown("resource.DeviceAttribute", of);
            e.invalid(at, shown, "exactly one value must be specified");
        }
    }
}

fn pool_name(e: &mut Report, at: &Path<'_>, name: &str) {
    if name.is_empty() {
        return e.required(at, "");
    }
    if name.len() > POOL_LIMIT {
        e.too_long(at, POOL_LIMIT);
    }
    for part in name.split('/') {
        e.form(at, part, format::dns_subdomain);
    }
}

/// An identifier, perhaps with a domain before it. Nobody looks at names with more parts.
fn qualified(e: &mut Report, at: &Path<'_>, name: &str) {
    match name.split('/').collect::<Vec<_>>().as_slice() {
        [id] => identifier(e, at, id),
        [domain, id] => {
            if domain.is_empty() {
                e.invalid(at, "", "the domain must not be empty");
            } else {
                sources::csi_driver(e, at, domain);
            }
            if id.is_empty() {
                e.invalid(at, "", "the name must not be empty");
            } else {
                identifier(e, at, id);
            }
        }
        _ => {}
    }
}

fn fully_qualified(e: &mut Report, at: &Path<'_>, name: &str) {
    qualified(e, at, name);
    if !name.contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        e.invalid(at, name, detail);
    }
}

fn identifier(e: &mut Report, at: &Path<'_>, id: &str) {
    if id.len() > ID_LIMIT {
        e.too_long(at, ID_LIMIT);
    }
    e.form(at, id, format::c_identifier);
}

/// Whether a list is short enough to look at what is in it.
fn is_short(e: &mut Report, at: &Path<'_>, list: &[Value], limit: usize) -> bool {
    if list.len() > limit {
        e.push(FieldError::too_many(at, list.len(), limit));
    }
    list.len() <= limit
}

fn unique<'a>(e: &mut Report, at: &Path<'_>, names: impl Iterator<Item = &'a str>) {
    let mut seen = BTreeSet::new();
    for (n, name) in names.enumerate() {
        if !seen.insert(name) {
            e.duplicate(&at.index(n), name);
        }
    }
}
