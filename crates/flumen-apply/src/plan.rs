//! What a run would do, without doing it.

use std::collections::BTreeSet;

use flumen_diff::{ChangeSubject, PlanDocument, PlanError, PlanOperation};
use flumen_kube::{Cluster, ObjectName};
use flumen_object::{ObjectId, ObjectSet};
use flumen_yaml::{Node, Text};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::{
    Action, Error, InventoryStore, Marks, ObjectError, Options, Prune, Recorded,
    desired::{Desired, prepare},
    inventory::{Entry, Inventory},
    live::Live,
    review::{Review, Verdict, review},
};

/// Every object of a run and what would happen to it, in the order in which it would.
#[derive(Debug, Default)]
pub struct Plan {
    pub objects: Vec<Planned>,
}

/// What would happen to one object.
#[derive(Debug)]
pub struct Planned {
    pub id: ObjectId,
    /// The name of the kind in paths, such as `deployments`; empty while the kind is not served.
    pub resource: String,
    pub action: Action,
    /// The object would be deleted first, because a field of it cannot change.
    pub recreated: bool,
    /// Both sides of a change. `live` is absent for what would be created, `result` for what would be deleted.
    pub live: Option<Node>,
    pub result: Option<Node>,
    /// Why the server would refuse it.
    pub error: Option<ObjectError>,
}

impl Plan {
    /// Whether a run would leave the cluster as it is.
    pub fn is_noop(&self) -> bool {
        self.objects.iter().all(|object| !object.is_change())
    }

    /// Returns the plan as approval tools read it, without objects that would not change. Values of secrets are masked.
    pub fn document(&self) -> Result<PlanDocument, PlanError> {
        let candidates = self.objects.iter().filter(|object| object.is_change());
        let changes = candidates.clone().map(Planned::change).collect();
        let results = candidates.filter_map(|object| object.result.as_ref());
        PlanDocument::new(PlanOperation::Apply, changes, results)
    }

    /// Why a run would stop.
    pub fn errors(&self) -> Vec<ObjectError> {
        self.objects.iter().filter_map(|object| object.error.clone()).collect()
    }
}

impl Planned {
    /// The same as approval tools read it. Values of secrets are masked.
    pub fn change(&self) -> flumen_diff::Change {
        let subject = ChangeSubject { id: &self.id, resource: &self.resource };
        match &self.error {
            Some(error) => flumen_diff::Change::failed(subject, error.message.clone()),
            None => flumen_diff::Change::between(subject, self.live.as_ref(), self.result.as_ref()),
        }
    }

    /// Returns the action in one word, with `refused` and `recreated` beside those of [`Action`].
    pub const fn effect(&self) -> &'static str {
        match (&self.error, self.recreated) {
            (Some(_), _) => "refused",
            (None, true) => "recreated",
            (None, false) => self.action.as_str(),
        }
    }

    /// Whether something would be written, or would fail.
    pub fn is_change(&self) -> bool {
        self.error.is_some() || !matches!(self.action, Action::Unchanged | Action::Skipped)
    }
}

/// Reviews `objects` and what is stale, and writes nothing.
pub async fn plan<C: Cluster, S: InventoryStore>(
    cluster: &C,
    objects: ObjectSet,
    store: &S,
    options: &Options,
) -> Result<Plan, Error> {
    let Recorded { inventory, .. } = store.load().await?;
    let desired = prepare(cluster, objects, options).await?;
    let live = Live::read(cluster, &desired, &inventory, options).await?;
    let arriving = Arriving::with(&desired);
    let reviews = stream::iter(&desired).map(|object| {
        let (arriving, live) = (&arriving, &live);
        async move {
            let reviewed = review(cluster, object, live, options).await?;
            Ok::<_, Error>(planned(object, reviewed, arriving, options))
        }
    });
    let mut objects: Vec<Planned> = reviews.buffered(options.concurrency).try_collect().await?;
    if !matches!(options.prune, Prune::Off | Prune::Forget) {
        let wanted: Inventory =
            desired.iter().map(|object| Entry { id: object.id.clone(), seen: None }).collect();
        let stale = inventory.stale(&wanted);
        let stale = stream::iter(stale).map(|entry| deletion(cluster, &entry.id, options));
        let stale: Vec<Option<Planned>> = stale.buffered(options.concurrency).try_collect().await?;
        objects.extend(stale.into_iter().flatten());
    }
    Ok(Plan { objects })
}

/// What the run itself will bring before it is needed.
struct Arriving {
    namespaces: BTreeSet<Text>,
    kinds: BTreeSet<(Text, Text)>,
}

impl Arriving {
    fn with(desired: &[Desired]) -> Self {
        let of_kind =
            |kind: &'static str| desired.iter().filter(move |object| object.id.gvk.kind == kind);
        let kind = |object: &Desired| {
            let group = object.body.at(&["spec", "group"])?.text()?.clone();
            Some((group, object.body.at(&["spec", "names", "kind"])?.text()?.clone()))
        };
        Self {
            namespaces: of_kind("Namespace").map(|object| object.id.name.clone()).collect(),
            kinds: of_kind("CustomResourceDefinition").filter_map(kind).collect(),
        }
    }

    fn brings_kind_of(&self, id: &ObjectId) -> bool {
        self.kinds.contains(&(id.gvk.group.clone(), id.gvk.kind.clone()))
    }
}

fn planned(object: &Desired, reviewed: Review, arriving: &Arriving, options: &Options) -> Planned {
    let Review { verdict, live, result } = reviewed;
    let mut planned = Planned {
        id: object.id.clone(),
        resource: object.resource.as_ref().map(|it| it.plural.to_string()).unwrap_or_default(),
        action: Action::Unchanged,
        recreated: false,
        live: None,
        result: None,
        error: None,
    };
    match verdict {
        Verdict::Unchanged { .. } => {}
        Verdict::Skip { .. } => planned.action = Action::Skipped,
        Verdict::Create => {
            planned.action = Action::Created;
            planned.result = result;
        }
        Verdict::Configure { .. } => {
            planned.action = Action::Configured;
            planned.live = live.map(|live| *live);
            planned.result = result;
        }
        Verdict::Recreate { .. } => {
            planned.action = Action::Created;
            planned.recreated = true;
            planned.live = live.map(|live| *live);
            planned.result = result;
        }
        Verdict::Defer if options.strict_kinds && !arriving.brings_kind_of(&object.id) => {
            planned.error = Some(ObjectError::not_served(&object.id, &object.origin));
        }
        Verdict::Defer => {
            let arrives = arriving.brings_kind_of(&object.id);
            planned.action = if arrives { Action::Created } else { Action::Deferred };
            planned.result = Some(object.body.clone());
        }
        Verdict::Fail { missing: true, .. }
            if arriving.namespaces.contains(&object.id.namespace) =>
        {
            planned.action = Action::Created;
            planned.result = Some(object.body.clone());
        }
        Verdict::Fail { error, .. } => {
            planned.live = live.map(|live| *live);
            planned.error = Some(error);
        }
    }
    planned
}

/// What pruning would delete; `None` for what it would leave.
async fn deletion<C: Cluster>(
    cluster: &C,
    id: &ObjectId,
    options: &Options,
) -> Result<Option<Planned>, Error> {
    let mut planned = Planned {
        id: id.clone(),
        resource: String::new(),
        action: Action::Deleted,
        recreated: false,
        live: None,
        result: None,
        error: None,
    };
    let resource = match cluster.resource_in_any_version(&id.gvk).await {
        Ok(Some(resource)) => resource,
        Ok(None) => return Ok(None),
        Err(error) if error.is_group_down() => {
            planned.error = Some(ObjectError::group_down(id, &error));
            return Ok(Some(planned));
        }
        Err(error) => return Err(error.into()),
    };
    let object = ObjectName { resource: &resource, namespace: &id.namespace, name: &id.name };
    let Some(live) = cluster.get(object).await? else { return Ok(None) };
    if !Marks::of(&live, &options.owner.group).may_be_deleted_by(&options.owner) {
        return Ok(None);
    }
    planned.resource = resource.plural.to_string();
    planned.live = Some(live);
    Ok(Some(planned))
}
