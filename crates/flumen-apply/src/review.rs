//! What applying an object would do: dry run, and comparison with what is there. Writes nothing.

use flumen_diff::{has_drifted, is_held, is_new};
use flumen_kube::{ApplyOptions, Cluster, ObjectName, Resource, Write};
use flumen_yaml::Node;

use crate::{
    Error, Marks, ObjectError, Options, Seen,
    desired::Desired,
    live::{Found, Live},
};

/// What is to be done with an object.
#[derive(Debug)]
pub(crate) enum Verdict {
    Create,
    Configure {
        /// Fields of earlier managers become ours before the object is applied.
        takes_over: bool,
        /// What is sent instead, so that ignored fields stay as they are.
        settled: Option<Box<Node>>,
    },
    /// An immutable field changes, and the user wants the object anew.
    Recreate {
        /// Which object that was found for.
        marks: Marks,
    },
    /// Nothing would change. The digests, where they were not known before.
    Unchanged {
        seen: Option<Seen>,
    },
    /// Its marks say that it is left alone.
    Skip {
        exists: bool,
    },
    /// Its kind is not served yet.
    Defer,
    Fail {
        error: ObjectError,
        /// The server knows no such namespace.
        missing: bool,
    },
}

/// A verdict and the two sides that led to it, for those who show them.
#[derive(Debug)]
pub(crate) struct Review {
    pub(crate) verdict: Verdict,
    pub(crate) live: Option<Box<Node>>,
    pub(crate) result: Option<Node>,
}

impl Review {
    const fn only(verdict: Verdict) -> Self {
        Self { verdict, live: None, result: None }
    }
}

/// Reviews one object. Only what makes an answer impossible is an error; what the server refuses is a verdict.
pub(crate) async fn review<C: Cluster>(
    cluster: &C,
    desired: &Desired,
    found: &Live,
    options: &Options,
) -> Result<Review, Error> {
    let Some(resource) = &desired.resource else {
        return Ok(Review::only(Verdict::Defer));
    };
    let live = match found.get(&desired.id.inventory_id()) {
        Some(Found::AsApplied) => {
            return Ok(Review::only(Verdict::Unchanged { seen: None }));
        }
        Some(Found::Otherwise(live)) => Some(live.clone()),
        None => None,
    };
    review_live(cluster, desired, resource, live, options).await
}

/// Reviews one object whose kind is served. `live` is the object as it is now; without it, it is looked for.
pub(crate) async fn review_live<C: Cluster>(
    cluster: &C,
    desired: &Desired,
    resource: &Resource,
    mut live: Option<Box<Node>>,
    options: &Options,
) -> Result<Review, Error> {
    let owner = &options.owner;
    // Marks on the object ask what is there before anything is tried.
    if live.is_none() && (owner.leaves_alone(&desired.body) || owner.only_creates(&desired.body)) {
        live = get(cluster, desired, resource).await?;
    }
    if skips(options, desired, live.as_deref()) {
        return Ok(Review::only(Verdict::Skip { exists: live.is_some() }));
    }

    let request = ApplyOptions { manager: &owner.manager, force: true, write: Write::DryRun };
    let result = match cluster.apply(name(desired, resource), &desired.body, request).await {
        Ok(result) => result,
        Err(error) if error.status().is_none() => return Err(error.into()),
        Err(error) => {
            if live.is_none() {
                live = get(cluster, desired, resource).await.unwrap_or_default();
            }
            if live.is_some() && skips(options, desired, live.as_deref()) {
                return Ok(Review::only(Verdict::Skip { exists: true }));
            }
            let replaced = live.as_deref().filter(|live| recreates(options, desired, live));
            let replaced = replaced.filter(|_| error.is_immutable());
            if let Some(marks) = replaced.map(|live| Marks::of(live, &owner.group)) {
                let result = Some(desired.body.clone());
                return Ok(Review { verdict: Verdict::Recreate { marks }, live, result });
            }
            let missing = error.is_not_found();
            let error = ObjectError::dry_run(&desired.id, &desired.origin, &error, &desired.body);
            return Ok(Review { verdict: Verdict::Fail { error, missing }, live, result: None });
        }
    };
    if is_new(&result) {
        return Ok(Review { verdict: Verdict::Create, live: None, result: Some(result) });
    }
    if live.is_none() {
        live = get(cluster, desired, resource).await?;
    }
    let Some(there) = live.as_deref() else {
        // It went away between the two requests.
        return Ok(Review { verdict: Verdict::Create, live: None, result: Some(result) });
    };
    if skips(options, desired, Some(there)) {
        return Ok(Review::only(Verdict::Skip { exists: true }));
    }
    let takes_over = options.takes_over(&desired.body, there).is_some();
    let ignored = options.ignore.of(&desired.body);
    let verdict = if takes_over || has_drifted(there, &result, &ignored) {
        let settled = (!ignored.is_empty()).then(|| {
            let mut body = desired.body.clone();
            ignored.settle(&mut body, there, &result, &owner.manager);
            Box::new(body)
        });
        Verdict::Configure { takes_over, settled }
    } else {
        // A watch tells by the fields that are ours whether something has changed. Where some are not, although they
        // are declared, the object does not count as applied, and the next run looks again.
        let is_told =
            options.watched.is_none() || is_held(there, &result, &owner.manager, &ignored);
        let left = if is_told { there } else { &result };
        Verdict::Unchanged { seen: Some(Seen::of(&desired.body, left, options.watched.as_ref())) }
    };
    Ok(Review { verdict, live, result: Some(result) })
}

/// Whether the user wants an object anew when a field of it cannot change, and nobody wants it left alone.
pub(crate) fn recreates(options: &Options, desired: &Desired, live: &Node) -> bool {
    let owner = &options.owner;
    let is_wanted = options.force || owner.recreates(&desired.body) || owner.recreates(live);
    is_wanted && !skips(options, desired, Some(live))
}

fn skips(options: &Options, desired: &Desired, live: Option<&Node>) -> bool {
    let owner = &options.owner;
    owner.leaves_alone(&desired.body)
        || live.is_some_and(|live| owner.leaves_alone(live) || owner.only_creates(&desired.body))
}

pub(crate) fn name<'a>(desired: &'a Desired, resource: &'a Resource) -> ObjectName<'a> {
    ObjectName { resource, namespace: &desired.id.namespace, name: &desired.id.name }
}

async fn get<C: Cluster>(
    cluster: &C,
    desired: &Desired,
    resource: &Resource,
) -> Result<Option<Box<Node>>, Error> {
    Ok(cluster.get(name(desired, resource)).await?.map(Box::new))
}
