//! Ports of services on the nodes.

use std::ops::RangeInclusive;

use flumen_fields::{FieldError, Path};
use serde_json::Value;

use super::{Allocations, Reservation};
use crate::{ApiError, meta};

const NODE_PORTS: RangeInclusive<i64> = 30_000..=32_767;
const FULL: &str = "range is full";

/// The ports that a service has on nodes, without that of its health check.
pub(super) fn numbers(service: &Value) -> impl Iterator<Item = i64> {
    let list = service["spec"]["ports"].as_array().into_iter().flatten();
    list.map(node_port).filter(|port| *port != 0)
}

/// Zero stands for none.
fn node_port(port: &Value) -> i64 {
    port["nodePort"].as_i64().unwrap_or_default()
}

fn accepts_ports(spec: &Value) -> bool {
    matches!(spec["type"].as_str(), Some("NodePort" | "LoadBalancer"))
}

/// Whether ports that nobody asked for are given.
fn needs_ports(spec: &Value) -> bool {
    spec["type"] == "NodePort" || spec["allocateLoadBalancerNodePorts"].as_bool() != Some(false)
}

fn needs_check(spec: &Value) -> bool {
    spec["type"] == "LoadBalancer" && spec["externalTrafficPolicy"] == "Local"
}

fn refuse(service: &str, place: usize, port: i64, why: String) -> ApiError {
    let at = format!("spec.ports[{place}].nodePort");
    let error = FieldError::invalid(&Path::new(&at), port, why);
    ApiError::invalid("", "Service", service, &[error])
}

impl Allocations {
    /// Gives a service the ports that it asks for and needs.
    pub(super) fn allocate_ports(
        &self,
        service: &mut Value,
        old: Option<&Value>,
        reservation: &mut Reservation,
    ) -> Result<(), ApiError> {
        if accepts_ports(&service["spec"]) {
            match old {
                None => self.give_ports(service, reservation)?,
                Some(old) => self.change_ports(service, old, reservation)?,
            }
        }
        // Who had one keeps it.
        let spec = &mut service["spec"];
        if needs_check(spec) && !old.is_some_and(|old| needs_check(&old["spec"])) {
            self.give_check_port(spec, reservation)?;
        }
        Ok(())
    }

    /// Ports of a new service: the same port with another protocol shares its number.
    fn give_ports(
        &self,
        service: &mut Value,
        reservation: &mut Reservation,
    ) -> Result<(), ApiError> {
        let name = meta::name(service).to_owned();
        let spec = &mut service["spec"];
        let needs_ports = needs_ports(spec);
        let ports = spec["ports"].as_array().map(Vec::as_slice).unwrap_or_default();
        let asked: Vec<(i64, i64)> = ports
            .iter()
            .map(|port| (port["port"].as_i64().unwrap_or_default(), node_port(port)))
            .collect();
        let mut given: Vec<(i64, i64)> = Vec::new();
        for (place, (port, asking)) in meta::items_mut(spec, "ports").zip(&asked).enumerate() {
            let (number, wanted) = *asking;
            if wanted == 0 && !needs_ports {
                continue;
            }
            let shared = given.iter().find(|(other, _)| *other == number).map(|(_, port)| *port);
            let taken = match shared {
                Some(shared) if wanted == 0 || wanted == shared => shared,
                Some(_) => {
                    self.take_port(wanted, reservation)
                        .map_err(|why| refuse(&name, place, wanted, why))?;
                    continue;
                }
                None => {
                    // Somebody further down may ask for a number.
                    let wish = asked.iter().find(|(other, node)| *other == number && *node != 0);
                    match wish {
                        Some((_, wish)) => self
                            .take_port(*wish, reservation)
                            .map_err(|why| refuse(&name, place, *wish, why))?,
                        None => self.take_any_port(reservation).ok_or_else(none_left)?,
                    }
                }
            };
            given.push((number, taken));
            port["nodePort"] = taken.into();
        }
        Ok(())
    }

    /// Ports of a service that has some already.
    fn change_ports(
        &self,
        service: &mut Value,
        old: &Value,
        reservation: &mut Reservation,
    ) -> Result<(), ApiError> {
        let name = meta::name(service).to_owned();
        let had: Vec<i64> = numbers(old).collect();
        let spec = &mut service["spec"];
        let needs_ports = needs_ports(spec);
        let mut seen: Vec<(String, i64)> = Vec::new();
        for (place, port) in meta::items_mut(spec, "ports").enumerate() {
            let wanted = node_port(port);
            let taken = match wanted {
                0 if !needs_ports => continue,
                0 => self.take_any_port(reservation).ok_or_else(none_left)?,
                _ if had.contains(&wanted) || reservation.ports.contains(&wanted) => wanted,
                _ => self
                    .take_port(wanted, reservation)
                    .map_err(|why| refuse(&name, place, wanted, why))?,
            };
            port["nodePort"] = taken.into();
            let place = (port["protocol"].as_str().unwrap_or_default().to_owned(), taken);
            if seen.contains(&place) {
                let message = format!("duplicate nodePort: {{{} {}}}", place.0, place.1);
                return Err(ApiError::new(500, None, message));
            }
            seen.push(place);
        }
        Ok(())
    }

    fn give_check_port(
        &self,
        spec: &mut Value,
        reservation: &mut Reservation,
    ) -> Result<(), ApiError> {
        let asked = spec["healthCheckNodePort"].as_i64().unwrap_or_default();
        let taken = if asked == 0 {
            let none_left = || format!("failed to allocate a HealthCheck NodePort 0: {FULL}");
            self.take_any_port(reservation).ok_or_else(none_left)
        } else {
            self.take_port(asked, reservation).map_err(|why| {
                format!("failed to allocate requested HealthCheck NodePort {asked}: {why}")
            })
        };
        spec["healthCheckNodePort"] = taken.map_err(ApiError::internal)?.into();
        Ok(())
    }

    /// Takes the port, or says why nobody can have it.
    fn take_port(&self, port: i64, reservation: &mut Reservation) -> Result<i64, String> {
        let mut taken = self.lock();
        let is_free = if reservation.is_trial {
            // The real server does not look at the range here.
            !taken.ports.contains(&port) && !reservation.ports.contains(&port)
        } else if NODE_PORTS.contains(&port) {
            taken.ports.insert(port)
        } else {
            return Err(format!(
                "provided port is not in the valid range. The range of valid ports is {}-{}",
                NODE_PORTS.start(),
                NODE_PORTS.end()
            ));
        };
        if !is_free {
            return Err("provided port is already allocated".to_owned());
        }
        reservation.ports.push(port);
        Ok(port)
    }

    fn take_any_port(&self, reservation: &mut Reservation) -> Option<i64> {
        if reservation.is_trial {
            let last = reservation.ports.iter().max().copied().unwrap_or(NODE_PORTS.end() + 1);
            let made_up = last.max(0) + 1;
            reservation.ports.push(made_up);
            return Some(made_up);
        }
        let mut taken = self.lock();
        let room = NODE_PORTS.end() - NODE_PORTS.start() + 1;
        for _ in 0..room {
            taken.next_port = (taken.next_port + 1) % room;
            let port = NODE_PORTS.start() + taken.next_port;
            if taken.ports.insert(port) {
                reservation.ports.push(port);
                return Some(port);
            }
        }
        None
    }
}

fn none_left() -> ApiError {
    ApiError::internal(format!("failed to allocate a nodePort: {FULL}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn service(ports: &Value) -> Value {
        json!({"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": ports}})
    }

    #[test]
    fn a_trial_gives_nothing_back_that_it_has_not_taken() {
        let all = Arc::new(Allocations::default());
        let mut other = service(&json!([{"port": 1, "nodePort": 30_054}]));
        all.allocate(&mut other, None, false).expect("it is free").keep();
        let mut trial = service(&json!([{"port": 1, "nodePort": 30_053}, {"port": 2}]));
        drop(all.allocate(&mut trial, None, true).expect("it is made up"));
        assert_eq!(trial["spec"]["ports"][1]["nodePort"], 30_054);
        let mut third = service(&json!([{"port": 1, "nodePort": 30_054}]));
        all.allocate(&mut third, None, false).expect_err("it is still taken");
    }

    #[test]
    fn a_number_is_refused_twice_in_a_new_service_and_shared_in_an_old_one() {
        let all = Arc::new(Allocations::default());
        let ports = json!([
            {"port": 1, "protocol": "TCP", "nodePort": 30_001},
            {"port": 2, "protocol": "UDP", "nodePort": 30_001},
        ]);
        all.allocate(&mut service(&ports), None, false).expect_err("it is asked for twice");
        let old = service(&json!([]));
        all.allocate(&mut service(&ports), Some(&old), false).expect("protocols differ").keep();
    }
}
