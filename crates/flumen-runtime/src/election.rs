//! Leader election: of several processes, the one that holds the Leases reconciles.
//!
//! A process holds a Lease for each controller that it stands for, under the names that Flux's controllers use: of Flux and
//! this process, only one reconciles.

use std::{future::pending, time::Duration};

use flumen_kube::{Client, Error, Lease, LeaseOptions, Lost};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use sha2::{Digest as _, Sha256};

use crate::metrics::Metrics;

/// How one of several processes is elected.
#[derive(Clone, Debug)]
pub struct Election {
    /// Name of this process; a random part is added.
    pub name: String,
    /// Time after which others take over a Lease that is not renewed.
    pub lease: Duration,
    /// Time for which renewing is retried before this process gives up.
    pub renew: Duration,
    /// Delay between two attempts.
    pub retry: Duration,
    /// Release the Leases on shutdown, so that no other process waits until they expire.
    pub releases: bool,
}

/// Returns the name of the Lease of a controller. With a selector it has a suffix, as in Flux.
pub(crate) fn lease_name(controller: &str, selector: Option<&str>) -> String {
    let suffix = selector.filter(|selector| !selector.is_empty()).map(|selector| {
        let digest = Sha256::digest(selector.as_bytes());
        let [a, b, c, d, ..]: [u8; 32] = digest.into();
        format!("-{a:02x}{b:02x}{c:02x}{d:02x}")
    });
    format!("{controller}-leader-election{}", suffix.unwrap_or_default())
}

/// A process that reconciles, or waits to.
#[derive(Debug)]
pub(crate) struct Candidate {
    client: Client,
    /// Leases in the order in which they are acquired: every process uses the same one, so that two of them cannot hold
    /// one each and wait for the other.
    leases: Vec<LeaseOptions>,
    releases: bool,
    held: Vec<Lease<Client>>,
}

impl Candidate {
    pub(crate) fn new(
        client: Client,
        election: &Election,
        namespace: &str,
        names: Vec<String>,
        metrics: &Metrics,
    ) -> Self {
        let identity = format!("{}_{}", election.name, uuid::Uuid::new_v4());
        let lease = |name: String| {
            metrics.leads(&name, false);
            LeaseOptions {
                namespace: namespace.to_owned(),
                name,
                identity: identity.clone(),
                lease: election.lease,
                renew: election.renew,
                retry: election.retry,
            }
        };
        let leases = names.into_iter().map(lease).collect();
        Self { client, leases, releases: election.releases, held: Vec::new() }
    }

    /// Waits until this process holds all Leases.
    pub(crate) async fn elect(&mut self, metrics: &Metrics) -> Result<(), Error> {
        let Self { client, leases, held, .. } = self;
        while let Some(options) = leases.get(held.len()) {
            tokio::select! {
                // Nothing has been reconciled yet, so nothing has to stop.
                lost = keep(held) => {
                    tracing::warn!(error = %lost, "waits for the leases again");
                    held.clear();
                }
                lease = acquire(client, options) => {
                    let lease = lease?;
                    held.push(lease);
                }
            }
        }
        for lease in leases.iter() {
            metrics.leads(&lease.name, true);
        }
        let identity = leases.first().map(|lease| lease.identity.as_str());
        tracing::info!(identity, "leads");
        Ok(())
    }

    /// Renews the Leases until one is lost. The leader stops its work then.
    pub(crate) async fn keep(&mut self) -> Lost {
        keep(&mut self.held).await
    }

    /// Releases the Leases, if the election says so.
    pub(crate) async fn release(self) {
        if !self.releases {
            return;
        }
        for lease in self.held {
            if let Err(error) = lease.release().await {
                tracing::warn!(%error, "cannot release a lease");
            }
        }
    }
}

/// Renews Leases until one is lost; without any, it never returns.
async fn keep(held: &mut [Lease<Client>]) -> Lost {
    let renewals = held.iter_mut().map(|lease| Box::pin(lease.keep()));
    match renewals.collect::<FuturesUnordered<_>>().next().await {
        Some(lost) => lost,
        None => pending().await,
    }
}

async fn acquire(client: &Client, options: &LeaseOptions) -> Result<Lease<Client>, Error> {
    let waiting = |holder: &str| tracing::info!(lease = options.name, holder, "waits for a lease");
    Lease::acquire(client.clone(), options.clone(), waiting).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_have_the_names_that_flux_gives_them() {
        let name = |selector| lease_name("source-controller", selector);
        assert_eq!(name(None), "source-controller-leader-election");
        assert_eq!(name(Some("")), "source-controller-leader-election");
        let of_shard = name(Some("sharding.fluxcd.io/key=shard1"));
        assert_eq!(of_shard, "source-controller-leader-election-73fdc1be");
    }
}
