//! Which kinds a server serves.
//!
//! Asked for when the first kind is looked up, kept for all clones of a client, and asked for again when
//! a kind is unknown. A current server answers with two documents; an older one is asked for each group.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use flumen_object::Gvk;
use flumen_yaml::Text;
use futures_util::{StreamExt as _, stream};

use crate::{
    Client, Error, Resource,
    discovery::documents::{Document, Group, ResourceList},
    send::Request,
};

mod cache;
mod documents;

pub(crate) use cache::Cache;

/// Newest form first; servers before 1.26 know only the last.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
                      application/json";

/// Groups of an older server that are asked for at the same time.
const LEGACY_REQUESTS: usize = 8;

/// All kinds that a server serves.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    served: HashMap<Gvk, Resource>,
    /// The version of each group and kind that the server names first.
    preferred: HashMap<(Text, Text), Text>,
    /// Groups of which it cannot tell all kinds, because the server behind it does not answer.
    down: HashSet<Text>,
}

impl Kinds {
    pub(crate) fn get(&self, gvk: &Gvk) -> Option<&Resource> {
        self.served.get(gvk)
    }

    pub(crate) fn preferred(&self, group: &str, kind: &str) -> Option<&Resource> {
        let (group, kind) = (Text::from(group), Text::from(kind));
        let version = self.preferred.get(&(group.clone(), kind.clone()))?.clone();
        self.served.get(&Gvk { group, version, kind })
    }

    /// The kind in this version, or else in the preferred one.
    pub(crate) fn in_any_version(&self, gvk: &Gvk) -> Option<&Resource> {
        self.get(gvk).or_else(|| self.preferred(&gvk.group, &gvk.kind))
    }

    /// Whether a group may have more kinds than are known.
    pub(crate) fn is_down(&self, group: &str) -> bool {
        self.down.contains(group)
    }

    fn add_down(&mut self, group: Text) {
        self.down.insert(group);
    }

    /// Versions must come in the order of preference.
    fn add(&mut self, resource: Resource) {
        let gvk = resource.gvk.clone();
        self.preferred
            .entry((gvk.group.clone(), gvk.kind.clone()))
            .or_insert_with(|| gvk.version.clone());
        // A kind can be served under two names; the first one is the main one.
        self.served.entry(gvk).or_insert(resource);
    }
}

/// What is said of one version of a group.
enum Described {
    As(ResourceList),
    /// Whoever serves the group does not answer.
    Down(Text),
    /// It is there no longer.
    Gone,
}

impl Client {
    /// Asks the server for everything it serves.
    pub(crate) async fn discover(&self) -> Result<Kinds, Error> {
        let (core, groups) =
            tokio::try_join!(self.discovery_document("/api"), self.discovery_document("/apis"))?;
        let mut kinds = Kinds::default();
        for (root, document) in [("/api", core), ("/apis", groups)] {
            match document {
                Document::Aggregated(list) => {
                    for group in list {
                        group.add_to(&mut kinds);
                    }
                }
                Document::Groups(groups) => self.discover_groups(root, &groups, &mut kinds).await?,
            }
        }
        Ok(kinds)
    }

    async fn discovery_document(&self, path: &str) -> Result<Document, Error> {
        let request = Request::get(path.to_owned()).accepting(ACCEPT);
        let text = self.exchange(&request).await?;
        documents::read(&text).map_err(|error| self.unreadable(&request, &error))
    }

    /// The older form: a request for each version of each group. A group whose server is down is only noted,
    /// so that the others can be used.
    async fn discover_groups(
        &self,
        root: &str,
        groups: &[Group],
        kinds: &mut Kinds,
    ) -> Result<(), Error> {
        let versions = groups.iter().flat_map(|group| {
            group.paths(root).map(move |path| (Text::from(group.name.as_str()), path))
        });
        let versions: Vec<(Text, String)> = versions.collect();
        let requests = versions.into_iter().map(|(group, path)| async move {
            let request = Request::get(path);
            let text = match self.exchange(&request).await {
                Err(error) if error.is_not_found() => return Ok(Described::Gone),
                Err(Error::Refused(_)) => return Ok(Described::Down(group)),
                text => text?,
            };
            serde_json::from_str::<ResourceList>(&text)
                .map(Described::As)
                .map_err(|error| self.unreadable(&request, &error))
        });
        let mut lists = stream::iter(requests).buffered(LEGACY_REQUESTS);
        while let Some(list) = lists.next().await {
            match list? {
                Described::As(list) => list.add_to(kinds),
                Described::Down(group) => kinds.add_down(group),
                Described::Gone => {}
            }
        }
        Ok(())
    }

    /// What is known of kinds, if that is enough or a moment old; otherwise what the server says now.
    pub(crate) async fn kinds(
        &self,
        is_enough: impl Fn(&Kinds) -> bool + Send,
    ) -> Result<Arc<Kinds>, Error> {
        let cache = &self.shared().kinds;
        if let Some(known) = cache.current().filter(|known| is_enough(known)) {
            return Ok(known);
        }
        let _one_at_a_time = cache.refreshing().await;
        if let Some(known) = cache.current().filter(|known| is_enough(known) || cache.is_fresh()) {
            return Ok(known);
        }
        let kinds = Arc::new(self.discover().await?);
        cache.store(&kinds);
        Ok(kinds)
    }
}
