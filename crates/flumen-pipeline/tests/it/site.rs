//! An install on a real API server, with a namespace of its own.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    pin::Pin,
    sync::{Mutex, atomic::Ordering},
    time::Duration,
};

use flumen_apply::{Deployment, Recorded, Silent};
use flumen_diff::ChangeType;
use flumen_kube::{Client, ConnectOptions};
use flumen_oci::{
    Repository, Target,
    signature::{Policy, SignOptions, sign},
};
use flumen_pipeline::{
    Artifact, BuildId, Error, State,
    config::{Component, Components},
    deploy::{
        Approver, Ask, Observer, Operation, Order, Outcome, PendingPlans, Plan, Site, Status,
        Subject, Verdict, run,
    },
    install::{Approvals, Install},
    job::CancellationToken,
};
use flumen_sign::{PrivateKey, Trust};
use flumen_testkit::KubeCluster;
use jiff::Timestamp;

use crate::{Insecure, Project, TestRegistry};

/// Components, an install and the cluster that it is on.
pub(crate) struct TestSite {
    pub(crate) project: Project,
    pub(crate) cluster: &'static KubeCluster,
    /// Where objects and inventories go.
    pub(crate) namespace: String,
    client: Client,
    /// Who signs, if the install looks at signatures.
    trust: Option<Policy>,
    /// Where the install takes artifacts from; the local store if it has no registry.
    repository: Option<Repository>,
}

/// How a deploy went.
pub(crate) struct Deployed {
    pub(crate) outcome: Outcome<Error>,
    /// The plan, if it changes something.
    pub(crate) plan: Option<Plan>,
    pub(crate) heard: Vec<String>,
}

impl Deployed {
    pub(crate) fn status(&self) -> Status {
        self.outcome.status
    }

    /// Name and type of each object in the plan.
    pub(crate) fn changes(&self) -> Vec<(String, ChangeType)> {
        let plan = self.plan.as_ref();
        let changes =
            plan.map(|plan| plan.document.k8s_content_diff.as_slice()).unwrap_or_default();
        changes.iter().map(|change| (change.name.clone(), change.change_type)).collect()
    }

    #[track_caller]
    pub(crate) fn expect(self, status: Status) -> Self {
        assert_eq!(self.status(), status, "{:?}\n{}", self.outcome, self.heard.join("\n"));
        self
    }
}

impl TestSite {
    /// `None` without a Kubernetes, which is said as skipped.
    pub(crate) async fn new() -> Option<Self> {
        let cluster = tokio::task::spawn_blocking(KubeCluster::shared).await.expect("no panic")?;
        Some(Self::on(cluster, cluster.kubeconfig()).await)
    }

    /// As somebody else than the administrator.
    pub(crate) async fn on(cluster: &'static KubeCluster, kubeconfig: PathBuf) -> Self {
        let namespace =
            tokio::task::spawn_blocking(|| cluster.fresh_namespace()).await.expect("no panic");
        let options = ConnectOptions { kubeconfig: Some(kubeconfig), ..ConnectOptions::default() };
        let client = Client::connect(&options).await.expect("a client");
        let site = Self {
            project: Project::new(),
            cluster,
            namespace,
            client,
            trust: None,
            repository: None,
        };
        site.set_install("");
        site
    }

    pub(crate) fn set_install(&self, rest: &str) {
        let text = format!("{rest}\n[cluster]\nnamespace = \"{}\"\n", self.namespace);
        self.project.write("installs/prod.toml", &text);
    }

    /// Gives the install a registry of its own.
    pub(crate) fn set_registry(&mut self, registry: &TestRegistry) {
        self.set_install(&format!("[registry]\nurl = \"{}\"", registry.reference("prod")));
        self.repository = Some(registry.repository("prod"));
    }

    /// Wants signatures of a new key, which is returned.
    pub(crate) fn enforce_signatures(&mut self) -> PrivateKey {
        let key = PrivateKey::generate().expect("a key");
        self.project.write("installs/key.pub", &key.public_key().to_pem());
        self.set_install("[signatures]\npolicy = \"enforce\"\nkeys = [\"key.pub\"]");
        let trust = Trust { keys: vec![key.public_key().clone()], ..Trust::default() };
        self.trust = Some(Policy { trust, signed_as: None });
        key
    }

    pub(crate) async fn sign(&self, build: &Artifact, key: &PrivateKey) {
        let store = self.store();
        let target = Target::Digest(build.digest.clone());
        let descriptor = store.resolve(&target).await.expect("the build");
        sign(&store, &descriptor, key, &SignOptions::default()).await.expect("signed");
    }

    /// A component with these documents.
    pub(crate) fn set_inline(&self, name: &str, documents: &str) {
        let manifest = format!("manifest = '''\n{documents}'''\n");
        self.set_component(name, &manifest);
    }

    pub(crate) fn set_component(&self, name: &str, rest: &str) {
        let common = format!(
            "name = \"{name}\"\ntype = \"kubernetes_manifest\"\nnamespace = \"{}\"\n",
            self.namespace
        );
        self.project.write(&format!("components/{name}.toml"), &format!("{common}{rest}"));
    }

    pub(crate) fn components(&self) -> BTreeMap<String, Component> {
        let loaded = Components::load(&self.project.path("components")).expect("components");
        assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
        loaded.components
    }

    pub(crate) async fn build(&self, name: &str) -> Artifact {
        let second = 1_700_000_000 + self.project.builds.fetch_add(1, Ordering::Relaxed);
        let id = BuildId::new(Timestamp::from_second(second).expect("a time"), [0; 10]);
        let (components, cancel) = (self.components(), CancellationToken::new());
        let (environment, heard) = (self.project.environment(), &self.project.heard);
        flumen_pipeline::build(&components[name], id, &environment, &cancel, heard)
            .await
            .expect("built")
    }

    /// Builds and deploys; everything is approved.
    pub(crate) async fn build_and_deploy(&self, name: &str) -> Deployed {
        self.build(name).await;
        self.deploy(name).await
    }

    pub(crate) async fn deploy(&self, name: &str) -> Deployed {
        self.run(name, Operation::Deploy, Some(Verdict::Approve), None).await
    }

    pub(crate) async fn run(
        &self,
        name: &str,
        operation: Operation,
        verdict: Option<Verdict>,
        pinned: Option<&Deployment>,
    ) -> Deployed {
        let heard = Listener::default();
        let ask = Always(verdict);
        let (state, components) = (self.state(), self.components());
        let install = self.install();
        let plans = PendingPlans::new(&state).expect("a directory");
        let approver = Approver { rule: Approvals::Ask, plans, ask: &ask, now };
        let repository = self.repository();
        let components_dir = self.project.path("components");
        let site = Site {
            components: &components,
            components_dir: &components_dir,
            ..self.site(&install, &state, &repository)
        };
        let subject =
            Subject { install: install.id.clone(), component: name.to_owned(), operation };
        let order = Order { subject, timeout: Duration::from_mins(2), retries: 0 };
        let mut steps = site.steps(&components[name], operation, pinned, &heard, &Silent);
        let cancel = CancellationToken::new();
        let outcome = run(&order, &mut steps, &approver, &heard, &cancel).await;
        drop(steps);
        let Listener { lines, plan } = heard;
        Deployed {
            outcome,
            plan: plan.into_inner().expect("no panic holds it"),
            heard: lines.into_inner().expect("no panic holds it"),
        }
    }

    pub(crate) async fn recorded(&self, name: &str) -> Recorded {
        let (install, state, repository) = (self.install(), self.state(), self.repository());
        self.site(&install, &state, &repository).recorded(name).await.expect("an inventory")
    }

    fn site<'a>(
        &'a self,
        install: &'a Install,
        state: &'a State,
        repository: &'a Repository,
    ) -> Site<'a, Client> {
        static NONE: BTreeMap<String, Component> = BTreeMap::new();
        Site {
            cluster: &self.client,
            install,
            components: &NONE,
            components_dir: self.project.dir.path(),
            state,
            registries: &Insecure,
            repository,
            signatures: self.trust.as_ref(),
            approves_all: false,
            allows_large_prune: false,
            by: "somebody",
            now,
        }
    }

    fn install(&self) -> Install {
        Install::load(&self.project.path("installs"), "prod").expect("an install")
    }

    fn state(&self) -> State {
        self.project.state()
    }

    fn repository(&self) -> Repository {
        self.repository.clone().unwrap_or_else(|| self.store())
    }

    fn store(&self) -> Repository {
        self.state().store().expect("a store")
    }

    /// What `kubectl` says in the namespace, which must succeed.
    #[track_caller]
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        let said = self.try_kubectl(arguments);
        said.unwrap_or_else(|error| panic!("kubectl {}: {error}", arguments.join(" ")))
    }

    pub(crate) fn try_kubectl(&self, arguments: &[&str]) -> Result<String, String> {
        let namespaced = [&["--namespace", &self.namespace], arguments].concat();
        let outcome = tokio::task::block_in_place(|| self.cluster.kubectl(&namespaced));
        if outcome.succeeded() {
            Ok(String::from_utf8_lossy(&outcome.stdout).into_owned())
        } else {
            Err(outcome.stderr)
        }
    }

    /// One field of an object, as `kubectl` finds it.
    #[track_caller]
    pub(crate) fn field(&self, object: &str, path: &str) -> String {
        self.kubectl(&["get", object, "-o", &format!("jsonpath={{{path}}}")])
    }

    pub(crate) fn exists(&self, object: &str) -> bool {
        self.try_kubectl(&["get", object]).is_ok()
    }
}

pub(crate) fn config_map(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  key: \"{value}\"\n---\n"
    )
}

fn now() -> Timestamp {
    Timestamp::now()
}

struct Always(Option<Verdict>);

impl Ask for Always {
    fn ask<'a>(
        &'a self,
        _subject: &'a Subject,
        _plan: &'a Plan,
    ) -> Pin<Box<dyn Future<Output = Option<Verdict>> + Send + 'a>> {
        Box::pin(async move { self.0 })
    }
}

#[derive(Default)]
struct Listener {
    lines: Mutex<Vec<String>>,
    plan: Mutex<Option<Plan>>,
}

impl Observer for Listener {
    fn status(&self, status: Status) {
        self.log(&status.to_string());
    }

    fn log(&self, line: &str) {
        self.lines.lock().expect("no panic holds it").push(line.to_owned());
    }

    fn plan(&self, plan: &Plan) {
        *self.plan.lock().expect("no panic holds it") = Some(plan.clone());
    }
}
