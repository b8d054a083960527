//! Of several controllers one works: the one that holds the Leases.
//!
//! We stand for two of Flux's controllers, so we hold the Leases of both, under Flux's names: whoever runs Flux with
//! leader election and us with it has one of the two at work, never both.

use std::time::Duration;

use flumen_kube::{Client, Error, Lease, LeaseOptions, Lost};
use flumen_oci::Digest;

use crate::{Controller, metrics::Metrics};

/// The controllers that we stand for. Their Leases are taken in this order, so that two of us cannot hold one each and
/// wait for the other for ever.
const CONTROLLERS: [&str; 2] = ["source-controller", "kustomize-controller"];

/// How one of several is chosen.
#[derive(Clone, Debug)]
pub struct Election {
    /// Who we are, in words; a random part is added.
    pub name: String,
    /// How long others leave Leases alone that are not renewed.
    pub lease: Duration,
    /// How long we try to renew before we give up.
    pub renew: Duration,
    /// The pause between two tries.
    pub retry: Duration,
    /// Give the Leases back at the end, so that nobody has to wait until they expire.
    pub releases: bool,
}

/// The names of the Leases. Who reconciles only some objects has Leases of his own, as in Flux.
pub(crate) fn lease_names(selector: Option<&str>) -> [String; 2] {
    let suffix = selector.filter(|selector| !selector.is_empty()).map(|selector| {
        let digest = Digest::of(selector.as_bytes());
        format!("-{}", &digest.hex()[..8])
    });
    let suffix = suffix.unwrap_or_default();
    CONTROLLERS.map(|controller| format!("{controller}-leader-election{suffix}"))
}

/// Who works, or wants to.
#[derive(Debug)]
pub(crate) struct Candidate {
    client: Client,
    leases: [LeaseOptions; 2],
    releases: bool,
    /// Those that we have.
    held: [Option<Lease<Client>>; 2],
}

impl Candidate {
    /// `None` when nobody is elected: everyone works.
    pub(crate) fn of(controller: &Controller) -> Option<Self> {
        let options = &controller.options;
        let election = options.election.as_ref()?;
        let identity = format!("{}_{}", election.name, uuid::Uuid::new_v4());
        let leases = lease_names(options.selector.as_deref()).map(|name| {
            controller.metrics.leads(&name, false);
            LeaseOptions {
                namespace: options.runtime_namespace.clone(),
                name,
                identity: identity.clone(),
                lease: election.lease,
                renew: election.renew,
                retry: election.retry,
            }
        });
        let releases = election.releases;
        Some(Self { client: controller.client.clone(), leases, releases, held: [None, None] })
    }

    /// Waits until both Leases are ours.
    pub(crate) async fn elect(&mut self, metrics: &Metrics) -> Result<(), Error> {
        let [of_sources, of_kustomizations] = &self.leases;
        loop {
            let first = acquire(&self.client, of_sources).await?;
            let first = self.held[0].insert(first);
            tokio::select! {
                // Nobody has worked yet, so nothing has to end.
                lost = first.keep() => tracing::warn!(error = %lost, "begins to wait again"),
                second = acquire(&self.client, of_kustomizations) => {
                    self.held[1] = Some(second?);
                    for lease in &self.leases {
                        metrics.leads(&lease.name, true);
                    }
                    tracing::info!(identity = of_sources.identity, "leads");
                    return Ok(());
                }
            }
        }
    }

    /// Keeps the Leases for as long as that goes well. What the leader does must end when this does.
    pub(crate) async fn keep(&mut self) -> Lost {
        let [first, second] = &mut self.held;
        tokio::select! {
            lost = keep(first) => lost,
            lost = keep(second) => lost,
        }
    }

    /// Gives back what we have, if that is wanted.
    pub(crate) async fn release(self) {
        if !self.releases {
            return;
        }
        for lease in self.held.into_iter().flatten() {
            if let Err(error) = lease.release().await {
                tracing::warn!(%error, "cannot release a lease");
            }
        }
    }
}

async fn acquire(client: &Client, options: &LeaseOptions) -> Result<Lease<Client>, Error> {
    let waiting = |holder: &str| tracing::info!(lease = options.name, holder, "waits for a lease");
    Lease::acquire(client.clone(), options.clone(), waiting).await
}

async fn keep(lease: &mut Option<Lease<Client>>) -> Lost {
    match lease {
        Some(lease) => lease.keep().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_have_the_names_that_flux_gives_them() {
        let all = ["source-controller-leader-election", "kustomize-controller-leader-election"];
        assert_eq!(lease_names(None), all);
        assert_eq!(lease_names(Some("")), all);
        let of_shard = lease_names(Some("sharding.fluxcd.io/key=shard1"));
        assert_eq!(of_shard, all.map(|name| format!("{name}-73fdc1be")));
    }
}
