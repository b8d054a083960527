//! Runs of somebody who watches the objects, and knows them by what is held of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use flumen_apply::{Marks, Owner, Sight, Sighting, Watched};
use flumen_diff::{IgnoreRule, IgnoreRules, ObjectDigest, Takeover};
use flumen_health::HealthRules;
use flumen_kube::{Cluster as _, ObjectName, Resource};
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::Node;
use futures_util::stream::BoxStream;
use tokio::sync::mpsc::UnboundedSender;

use crate::fixture::{Fixture, config_map};

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
";

/// Sees what it is shown, and what a run has written.
#[derive(Debug)]
struct Eyes {
    owner: Owner,
    sights: Mutex<BTreeMap<String, Sight>>,
}

impl Eyes {
    fn open(fixture: &mut Fixture) -> Arc<Self> {
        let owner = fixture.options.owner.clone();
        let eyes = Arc::new(Self { owner, sights: Mutex::default() });
        fixture.options.watched = Some(eyes.clone());
        eyes
    }

    fn saw(&self, object: &Node) {
        let marks = Marks::of(object, &self.owner.group);
        let sight = Sight { marks, digest: self.digest(object) };
        let id = ObjectId::of(object).inventory_id();
        self.sights.lock().expect("a lock").insert(id, sight);
    }

    /// Looks at the Deployment as it is now, as a watch would tell of it.
    async fn look(&self, fixture: &Fixture) {
        let gvk = Gvk::new(&"apps/v1".into(), "Deployment".into());
        let resource = fixture.client.resource(&gvk).await.expect("discovery works");
        let resource = resource.expect("it is served");
        let name = ObjectName { resource: &resource, namespace: &fixture.namespace, name: "web" };
        let object = fixture.client.get(name).await.expect("an answer");
        self.saw(&object.expect("it is there"));
    }
}

impl Watched for Eyes {
    fn digest(&self, live: &Node) -> ObjectDigest {
        let Owner { manager, group, .. } = &self.owner;
        ObjectDigest::of_ownership(live, manager, &Takeover::default(), group)
    }

    fn sight(&self, id: &ObjectId) -> Option<Sight> {
        self.sights.lock().expect("a lock").get(&id.inventory_id()).cloned()
    }

    fn has_seen_kind(&self, _: &ObjectId) -> bool {
        false
    }

    fn looks(&self, _: &BTreeSet<Gvk>) -> Option<BoxStream<'static, ()>> {
        None
    }

    fn wrote(&self, _: &Resource, object: &Node) {
        self.saw(object);
    }

    fn follow(
        &self,
        _: &Resource,
        _: &ObjectId,
        _: &HealthRules,
        _: &UnboundedSender<Sighting>,
    ) -> bool {
        false
    }
}

/// Gives the replicas to somebody else, who leaves their number as it was.
fn take_replicas(fixture: &Fixture) {
    for replicas in ["--replicas=0", "--replicas=2"] {
        fixture.kubectl(&["scale", "deployment", "web", replicas]);
    }
}

fn dry_runs(fixture: &Fixture) -> usize {
    fixture.proxy.count(|request| request.verb() == "apply" && request.is_dry_run())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_seen_to_be_as_it_was_applied_is_not_asked_about() {
    let Some(mut fixture) = Fixture::new().await else { return };
    let eyes = Eyes::open(&mut fixture);
    fixture.applied(WEB).await;
    // What others complete an object with is theirs.
    let theirs = r#"{"metadata":{"annotations":{"theirs":"x"}}}"#;
    let patch = ["patch", "deployment", "web", "--field-manager=operator", "-p", theirs];
    fixture.kubectl(&patch);
    eyes.look(&fixture).await;
    fixture.proxy.forget();
    assert_eq!(fixture.applied(WEB).await, "Deployment/web unchanged");
    assert_eq!(dry_runs(&fixture), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declared_field_that_is_no_longer_ours_is_looked_at_again() {
    let Some(mut fixture) = Fixture::new().await else { return };
    let eyes = Eyes::open(&mut fixture);
    fixture.applied(WEB).await;
    take_replicas(&fixture);
    eyes.look(&fixture).await;
    // Nothing would change, so nothing is written, as in Flux.
    assert_eq!(fixture.applied(WEB).await, "Deployment/web unchanged");
    fixture.kubectl(&["scale", "deployment", "web", "--replicas=5"]);
    eyes.look(&fixture).await;
    assert_eq!(fixture.applied(WEB).await, "Deployment/web configured");
    eyes.look(&fixture).await;
    fixture.proxy.forget();
    assert_eq!(fixture.applied(WEB).await, "Deployment/web unchanged");
    assert_eq!(dry_runs(&fixture), 0, "it is all ours again");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ignored_field_may_be_anybodys() {
    let Some(mut fixture) = Fixture::new().await else { return };
    let eyes = Eyes::open(&mut fixture);
    let paths = vec!["/spec/replicas".to_owned()];
    fixture.options.ignore =
        IgnoreRules::new(&[IgnoreRule { paths, target: None }]).expect("a rule");
    fixture.applied(WEB).await;
    fixture.kubectl(&["scale", "deployment", "web", "--replicas=5"]);
    eyes.look(&fixture).await;
    assert_eq!(fixture.applied(WEB).await, "Deployment/web unchanged");
    fixture.proxy.forget();
    assert_eq!(fixture.applied(WEB).await, "Deployment/web unchanged");
    assert_eq!(dry_runs(&fixture), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_does_not_change_what_counts_as_applied() {
    let Some(mut fixture) = Fixture::new().await else { return };
    Eyes::open(&mut fixture);
    fixture.options.wait = true;
    let map = config_map("c", "1");
    fixture.applied(&map).await;
    fixture.proxy.forget();
    assert_eq!(fixture.applied(&map).await, "ConfigMap/c unchanged");
    assert_eq!(dry_runs(&fixture), 0);
}
