//! The parts of the controller, put together: what the caches see becomes news, and news fill the queue.

use std::sync::{Arc, Mutex};

use flumen_api::{Artifact, ExternalArtifact, GitRepository, OciRepository};
use flumen_expr::LabelSelector;
use flumen_kube::Client;
use flumen_source::Storage;
use tokio::{
    sync::mpsc::{self, UnboundedSender},
    task::JoinSet,
};

use crate::{
    Controller, Kind, Options, RunError,
    cache::{Definitions, Depended, Followed, Owned, Reflected, owned::Hand, referenced},
    events::Recorder,
    kustomization::{self, contest::Contests, memory::Memory, providers::Providers},
    metrics::Metrics,
    moved::Meanwhile,
    queue::Queue,
    sources::{
        Artifacts,
        local::{self, LocalSources},
    },
    triggers::{News, handle},
};

/// The controller with what runs beside its work.
pub(crate) struct Assembled {
    pub(crate) controller: Arc<Controller>,
    /// Watches, and those who hear of what they see.
    pub(crate) background: JoinSet<()>,
    /// Post events; they end when nobody is left who could have more to say.
    pub(crate) posting: JoinSet<()>,
}

pub(crate) fn assemble(
    client: Client,
    options: Options,
    local_sources: LocalSources,
    storage: &Arc<Storage>,
) -> Result<Assembled, RunError> {
    let selector = LabelSelector::parse(options.selector.as_deref().unwrap_or_default())
        .map_err(RunError::Selector)?;
    let (news, mut heard) = mpsc::unbounded_channel();
    let (kustomize_events, post_kustomize) = Recorder::new(client.clone(), "kustomize-controller");
    let (source_events, post_sources) = Recorder::new(client.clone(), "source-controller");
    let takeover = kustomization::takeover(&options);
    let hand = Hand {
        manager: kustomization::MANAGER.to_owned(),
        group: kustomization::GROUP.to_owned(),
        takeover: takeover.clone(),
    };
    let definitions = Arc::new(Definitions::new(client.clone(), tells(&news, News::Established)));
    let cluster = Followed { client: client.clone(), definitions: definitions.clone() };
    let controller = Arc::new(Controller {
        artifacts: Artifacts::new(storage.clone(), &options)?,
        local_sources,
        queue: Queue::default(),
        kustomizations: Arc::new(Reflected::new(tells(&news, News::Kustomization))),
        git_repositories: sources(&news, Kind::GitRepository, |source: &GitRepository| {
            source.status.artifact.clone()
        }),
        oci_repositories: sources(&news, Kind::OciRepository, |source: &OciRepository| {
            source.status.artifact.clone()
        }),
        external_artifacts: sources(&news, Kind::ExternalArtifact, |source: &ExternalArtifact| {
            source.status.artifact.clone()
        }),
        index: Mutex::default(),
        providers: Providers::default(),
        contests: Contests::default(),
        meanwhile: Meanwhile::default(),
        definitions,
        depended: Depended::new(cluster.clone(), tells(&news, News::Depended)),
        owned: Owned::new(cluster.clone(), hand, tells(&news, News::Moved)),
        memory: Memory::new(&options.storage),
        takeover,
        selector,
        kustomize_events,
        source_events,
        metrics: Metrics::new(options.concurrent),
        client,
        options,
    });

    let mut background = watch(&controller, &cluster, &news);
    let hears = controller.clone();
    background.spawn(async move {
        while let Some(news) = heard.recv().await {
            handle(&hears, news);
        }
    });
    let mut posting = JoinSet::new();
    posting.spawn(post_kustomize);
    posting.spawn(post_sources);
    Ok(Assembled { controller, background, posting })
}

/// What a cache calls when it has seen something.
fn tells<T, F: Fn(T) -> News + Send + Sync>(
    news: &UnboundedSender<News>,
    of: F,
) -> impl Fn(T) + Send + Sync + use<T, F> {
    let news = news.clone();
    // Nobody hears it when the controller ends.
    move |seen| drop(news.send(of(seen)))
}

fn sources<K: flumen_api::Kind>(
    news: &UnboundedSender<News>,
    kind: Kind,
    artifact: impl Fn(&K) -> Option<Artifact> + Send + Sync + 'static,
) -> Arc<Reflected<K>> {
    let of = move |change| News::of_source(kind, change, &artifact);
    Arc::new(Reflected::new(tells(news, of)))
}

/// Begins to watch what is reconciled and what it refers to.
fn watch(
    controller: &Arc<Controller>,
    cluster: &Followed,
    news: &UnboundedSender<News>,
) -> JoinSet<()> {
    let mut watches = JoinSet::new();
    let definitions = controller.definitions.clone();
    watches.spawn(async move { definitions.follow().await });
    follow(&mut watches, controller, cluster, &controller.kustomizations);
    follow(&mut watches, controller, cluster, &controller.git_repositories);
    follow(&mut watches, controller, cluster, &controller.oci_repositories);
    follow(&mut watches, controller, cluster, &controller.external_artifacts);
    let options = &controller.options;
    if options.watch_references {
        for kind in ["ConfigMap", "Secret"] {
            let (namespace, selector) =
                (options.namespace.clone(), options.references_selector.clone());
            let changed = tells(news, News::Referenced);
            watches.spawn(referenced::watch(cluster.clone(), kind, namespace, selector, changed));
        }
    }
    for (key, source) in &controller.local_sources {
        watches.spawn(local::follow(controller.clone(), key.clone(), source.clone()));
    }
    watches
}

fn follow<K: flumen_api::Kind>(
    watches: &mut JoinSet<()>,
    controller: &Controller,
    cluster: &Followed,
    reflected: &Arc<Reflected<K>>,
) {
    let namespace = controller.options.namespace.clone();
    watches.spawn(reflected.clone().follow(cluster.clone(), namespace));
}
