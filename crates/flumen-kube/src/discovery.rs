//! Which kinds a server serves.
//!
//! Asked for when the first kind is looked up, kept for all clones of a client, and asked for again when
//! a kind is unknown. A current server answers with two documents; an older one is asked for each group.

use std::{collections::HashMap, sync::Arc};

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

    /// The older form: a request for each version of each group. A group whose server is down is left
    /// out, so that the others can be used.
    async fn discover_groups(
        &self,
        root: &str,
        groups: &[Group],
        kinds: &mut Kinds,
    ) -> Result<(), Error> {
        let paths: Vec<String> = groups.iter().flat_map(|group| group.paths(root)).collect();
        let requests = paths.into_iter().map(|path| async move {
            let request = Request::get(path);
            let text = match self.exchange(&request).await {
                Err(Error::Refused(_)) => return Ok(None),
                text => text?,
            };
            serde_json::from_str::<ResourceList>(&text)
                .map(Some)
                .map_err(|error| self.unreadable(&request, &error))
        });
        let mut lists = stream::iter(requests).buffered(LEGACY_REQUESTS);
        while let Some(list) = lists.next().await {
            if let Some(list) = list? {
                list.add_to(kinds);
            }
        }
        Ok(())
    }

    /// Looks a kind up, and asks the server if it is not known.
    pub(crate) async fn find(
        &self,
        look_up: impl Fn(&Kinds) -> Option<Resource> + Send,
    ) -> Result<Option<Resource>, Error> {
        let cache = &self.shared().kinds;
        if let Some(found) = cache.current().as_deref().and_then(&look_up) {
            return Ok(Some(found));
        }
        let _one_at_a_time = cache.refreshing().await;
        if let Some(known) = cache.current() {
            let found = look_up(&known);
            if found.is_some() || cache.is_fresh() {
                return Ok(found);
            }
        }
        let kinds = Arc::new(self.discover().await?);
        cache.store(&kinds);
        Ok(look_up(&kinds))
    }
}
