//! Objects that run nothing themselves: configuration, addresses, claims, definitions.

use crate::{Health, facts::Facts};

pub(crate) fn always_ready() -> Health {
    Health::current("Resource is always ready")
}

pub(crate) fn disruption_budget() -> Health {
    Health::current("AllowedDisruptions has been computed.")
}

/// An address from outside is not waited for: on many clusters there is nobody to give one.
pub(crate) fn service(facts: &Facts<'_>) -> Health {
    let balanced = facts.text(&["spec", "type"]).is_some_and(|kind| kind == "LoadBalancer");
    let addressed = facts.text(&["spec", "clusterIP"]).is_some_and(|ip| !ip.is_empty());
    if balanced && !addressed {
        let message = "ClusterIP not set. Service type: LoadBalancer";
        Health::in_progress("NoIPAssigned", message)
    } else {
        Health::current("Service is ready")
    }
}

pub(crate) fn claim(facts: &Facts<'_>) -> Health {
    let phase = facts.text(&["status", "phase"]).unwrap_or_else(|| "unknown".into());
    if phase == "Bound" {
        Health::current("PVC is Bound")
    } else {
        Health::in_progress("NotBound", format!("PVC is not Bound. phase: {phase}"))
    }
}

pub(crate) fn definition(facts: &Facts<'_>) -> Health {
    for condition in &facts.conditions {
        let failed = condition.is("NamesAccepted", "False")
            || condition.is("Established", "False") && condition.reason != "Installing";
        if failed {
            return Health::failed(&condition.reason, condition.message.clone());
        }
        if condition.is("Established", "True") {
            return Health::current("CRD is established");
        }
    }
    Health::in_progress("Installing", "Install in progress")
}
