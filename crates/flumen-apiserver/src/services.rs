//! Addresses and ports of services: what is free, what is taken, and who gets what.

mod ports;
mod range;

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

use flumen_fields::{FieldError, Path};
use parking_lot::Mutex;
use serde_json::{Value, json};

pub use self::range::ServiceRange;
use crate::{ApiError, Resource, meta};

/// What services have been given.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    range: ServiceRange,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    addresses: BTreeSet<Ipv4Addr>,
    ports: BTreeSet<i64>,
    /// Where the search for the next free one begins, so that what was released rests for a while.
    next_address: u32,
    next_port: i64,
}

/// What a write has taken; it is given back unless the write succeeds.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct Reservation {
    of: Option<Arc<Allocations>>,
    addresses: Vec<Ipv4Addr>,
    ports: Vec<i64>,
    /// Nothing will be written, so what is not asked for by name is made up, and no port is taken.
    is_trial: bool,
}

impl Reservation {
    /// The write has succeeded.
    pub(crate) fn keep(mut self) {
        self.of = None;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(of) = &self.of {
            let ports = if self.is_trial { &[] } else { &*self.ports };
            of.free(&self.addresses, ports);
        }
    }
}

pub(crate) fn are_meant(resource: &Resource) -> bool {
    (&*resource.group, &*resource.plural) == ("", "services")
}

impl Allocations {
    pub(crate) fn new(range: ServiceRange) -> Self {
        Self { range, taken: Mutex::default() }
    }

    pub(crate) fn range(&self) -> ServiceRange {
        self.range
    }

    /// Notes what a stored service has.
    pub(crate) fn note(&self, service: &Value) {
        let mut taken = self.lock();
        taken.addresses.extend(addresses(service));
        taken.ports.extend(ports(service));
    }

    /// Gives back what a service had that is gone.
    pub(crate) fn release(&self, service: &Value) {
        self.free(&addresses(service).collect::<Vec<_>>(), &ports(service).collect::<Vec<_>>());
    }

    /// Gives back what a service had and no longer has.
    pub(crate) fn release_difference(&self, old: &Value, new: &Value) {
        let (now, ports_now): (Vec<_>, Vec<_>) = (addresses(new).collect(), ports(new).collect());
        let gone: Vec<_> = addresses(old).filter(|address| !now.contains(address)).collect();
        let ports_gone: Vec<_> = ports(old).filter(|port| !ports_now.contains(port)).collect();
        self.free(&gone, &ports_gone);
    }

    fn free(&self, addresses: &[Ipv4Addr], ports: &[i64]) {
        let mut taken = self.lock();
        for address in addresses {
            taken.addresses.remove(address);
        }
        for port in ports {
            taken.ports.remove(port);
        }
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, Taken> {
        self.taken.lock()
    }

    /// Gives a service what it asks for and what it needs.
    pub(crate) fn allocate(
        self: &Arc<Self>,
        service: &mut Value,
        old: Option<&Value>,
        is_trial: bool,
    ) -> Result<Reservation, ApiError> {
        let mut reservation = Reservation::default();
        reservation.of = Some(Arc::clone(self));
        reservation.is_trial = is_trial;
        let mut errors = Vec::new();
        self.allocate_address(service, old, &mut reservation, &mut errors);
        if !errors.is_empty() {
            return Err(ApiError::invalid("", "Service", meta::name(service), &errors));
        }
        self.allocate_ports(service, old, &mut reservation)?;
        Ok(reservation)
    }

    fn allocate_address(
        &self,
        service: &mut Value,
        old: Option<&Value>,
        reservation: &mut Reservation,
        errors: &mut Vec<FieldError>,
    ) {
        let spec = &mut service["spec"];
        if spec["type"] == "ExternalName" {
            return;
        }
        let selects = spec["selector"].as_object().is_some_and(|selector| !selector.is_empty());
        let asked = spec["clusterIPs"][0].as_str().unwrap_or_default().to_owned();
        let is_headless = asked == "None";
        adopt_family_policy(spec, old);
        set_families(spec, is_headless, selects);
        let had = old.map(|old| addresses(old).collect::<Vec<_>>()).unwrap_or_default();
        if !is_headless || selects {
            check_families(spec, errors);
        }
        if is_headless || !errors.is_empty() {
            return;
        }
        if asked.is_empty() {
            match self.take_any_address(reservation) {
                Some(address) => {
                    spec["clusterIP"] = address.to_string().into();
                    spec["clusterIPs"] = json!([address.to_string()]);
                }
                None => errors.push(FieldError::new(
                    flumen_fields::FieldErrorKind::Internal,
                    &Path::new("spec").child("clusterIPs"),
                    None,
                    "failed to allocate a serviceIP: range is full",
                )),
            }
            return;
        }
        // Anything else is refused by validation.
        let Ok(address) = asked.parse::<IpAddr>() else { return };
        let refuse = |why: &str| {
            let why = format!("failed to allocate IP {asked}: {why}");
            FieldError::invalid(&Path::new("spec").child("clusterIPs"), json!([asked]), why)
        };
        match address {
            IpAddr::V4(address) if had.contains(&address) => {}
            IpAddr::V4(address) if self.range.contains(address) => {
                if self.lock().addresses.insert(address) {
                    reservation.addresses.push(address);
                } else {
                    errors.push(refuse("provided IP is already allocated"));
                }
            }
            _ => errors.push(refuse("the provided network does not match the current range")),
        }
    }

    fn take_any_address(&self, reservation: &mut Reservation) -> Option<Ipv4Addr> {
        if reservation.is_trial {
            return Some(Ipv4Addr::from(self.range.network));
        }
        let mut taken = self.lock();
        let room = self.range.size() - 2;
        for _ in 0..room {
            let offset = taken.next_address % room + 1;
            taken.next_address = offset;
            let address = Ipv4Addr::from(self.range.network + offset);
            // The first belongs to the server itself.
            if address != self.range.first() && taken.addresses.insert(address) {
                reservation.addresses.push(address);
                return Some(address);
            }
        }
        None
    }
}

/// The server knows IPv4 alone; who selects nothing may still use both.
/// Without a word about it, an update keeps the policy.
fn adopt_family_policy(spec: &mut Value, old: Option<&Value>) {
    let policy = old.map(|old| &old["spec"]["ipFamilyPolicy"]).filter(|policy| policy.is_string());
    if let (None, Some(policy)) = (spec["ipFamilyPolicy"].as_str(), policy) {
        spec["ipFamilyPolicy"] = policy.clone();
    }
}

fn set_families(spec: &mut Value, is_headless: bool, selects: bool) {
    let has_families = spec["ipFamilies"].as_array().is_some_and(|list| !list.is_empty());
    let policy = spec["ipFamilyPolicy"].as_str().unwrap_or_default();
    if is_headless && !selects {
        let is_single = policy == "SingleStack";
        if policy.is_empty() {
            spec["ipFamilyPolicy"] = "RequireDualStack".into();
        }
        let first = spec["ipFamilies"][0].as_str().unwrap_or("IPv4").to_owned();
        let other = if first == "IPv4" { "IPv6" } else { "IPv4" };
        let count = spec["ipFamilies"].as_array().map_or(0, Vec::len);
        if is_single && count == 0 {
            spec["ipFamilies"] = json!([first]);
        } else if !is_single && count < 2 {
            spec["ipFamilies"] = json!([first, other]);
        }
        return;
    }
    if policy.is_empty() {
        spec["ipFamilyPolicy"] = "SingleStack".into();
    }
    if !has_families {
        spec["ipFamilies"] = json!(["IPv4"]);
    }
}

fn check_families(spec: &Value, errors: &mut Vec<FieldError>) {
    let at = Path::new("spec");
    if spec["ipFamilyPolicy"] == "RequireDualStack" {
        let why = "this cluster is not configured for dual-stack services";
        let policy = at.child("ipFamilyPolicy");
        errors.push(FieldError::invalid(&policy, "RequireDualStack", why));
    }
    let families = at.child("ipFamilies");
    for (place, family) in spec["ipFamilies"].as_array().into_iter().flatten().enumerate() {
        if family == "IPv6" {
            let why = "not configured on this cluster";
            errors.push(FieldError::invalid(&families.index(place), "IPv6", why));
        }
    }
}

fn addresses(service: &Value) -> impl Iterator<Item = Ipv4Addr> {
    let list = service["spec"]["clusterIPs"].as_array();
    list.into_iter().flatten().filter_map(|address| address.as_str()?.parse().ok())
}

fn ports(service: &Value) -> impl Iterator<Item = i64> {
    let check = service["spec"]["healthCheckNodePort"].as_i64().filter(|port| *port != 0);
    ports::numbers(service).chain(check)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_given_once_and_come_back() {
        let range = "10.1.0.0/30".parse().expect("it is a range");
        let all = Arc::new(Allocations::new(range));
        let mut service = json!({"metadata": {"name": "a"}, "spec": {"type": "ClusterIP"}});
        let first = all.allocate(&mut service, None, false).expect("one is free");
        assert_eq!(service["spec"]["clusterIP"], "10.1.0.2");
        let mut other = json!({"metadata": {"name": "b"}, "spec": {"type": "ClusterIP"}});
        all.allocate(&mut other, None, false).expect_err("there is no other");
        first.keep();
        all.release(&service);
        all.allocate(&mut other, None, false).expect("it came back").keep();
        assert_eq!(other["spec"]["clusterIP"], "10.1.0.2");
    }

    #[test]
    fn a_write_that_fails_gives_back() {
        let all = Arc::new(Allocations::new("10.1.0.0/30".parse().expect("it is a range")));
        for _ in 0..3 {
            let mut service = json!({"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": [{"port": 1}]}});
            let reservation = all.allocate(&mut service, None, false).expect("it is free again");
            assert!(service["spec"]["ports"][0]["nodePort"].is_u64());
            drop(reservation);
        }
        assert!(all.lock().ports.is_empty());
    }

    #[test]
    fn a_trial_takes_nothing() {
        let all = Arc::new(Allocations::default());
        let ports = json!([{"port": 1}, {"port": 2}]);
        let mut service =
            json!({"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": ports}});
        let reservation = all.allocate(&mut service, None, true).expect("it is made up");
        assert_eq!(service["spec"]["clusterIP"], "10.0.0.0");
        assert_eq!(service["spec"]["ports"][0]["nodePort"], 32769);
        assert_eq!(service["spec"]["ports"][1]["nodePort"], 32770);
        assert!(all.lock().ports.is_empty() && all.lock().addresses.is_empty());
        drop(reservation);
    }

    #[test]
    fn ranges_are_checked() {
        for wrong in ["10.0.0.0", "10.0.0.0/31", "x/16", "fd00::/64"] {
            assert!(wrong.parse::<ServiceRange>().is_err(), "{wrong}");
        }
    }
}
