//! [`Cluster`] for the client.

use flumen_object::Gvk;
use flumen_yaml::{Entry, Map, Node, Pos, Text, Value, to_blocks, to_json};
use futures_util::Stream;
use http::Method;

use crate::{
    ApplyOptions, Client, Cluster, DeleteOptions, Error, Event, List, ListOptions, ObjectName,
    PatchType, Propagation, Resource, WatchOptions, Write,
    path::{self, Url},
    redact,
    retry::Retry,
    send::{Repeat, Request},
    tree,
    watch::resource_version,
};

const APPLY_PATCH: &str = "application/apply-patch+yaml";
const JSON: &str = "application/json";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// Objects that are asked for at once.
const PAGE: &str = "500";
/// How often a list begins again because its pages came too slowly.
const MAX_RESTARTS: u32 = 3;

/// A part of a list.
enum Page {
    Items(Vec<Node>),
    /// What came so far does not count: the list begins again.
    Restart,
}

impl Client {
    async fn object(&self, request: &Request) -> Result<Node, Error> {
        let text = self.exchange(request).await?;
        tree::read(&text).map_err(|error| self.unreadable(request, &error))
    }

    /// Sends an object, or a change of one.
    async fn write(&self, request: &Request, resource: &Resource) -> Result<Node, Error> {
        let answer = self.object(request).await;
        answer.map_err(|error| redact::without_quotes(error, &resource.gvk))
    }

    async fn pages(
        &self,
        resource: &Resource,
        options: ListOptions<'_>,
        mut page: impl FnMut(Page) + Send,
    ) -> Result<String, Error> {
        let mut from: Option<String> = None;
        let mut restarts = 0;
        loop {
            let url = Url::new(path::collection(resource, options.namespace.unwrap_or_default())?)
                .with("limit", PAGE)
                .with_some("labelSelector", options.label_selector)
                .with_some("fieldSelector", options.field_selector)
                .with_some("continue", from.as_deref());
            let mut list = match self.object(&Request::get(url.finish())).await {
                Err(error) if error.is_expired() && from.is_some() && restarts < MAX_RESTARTS => {
                    from = None;
                    restarts += 1;
                    page(Page::Restart);
                    continue;
                }
                list => list?,
            };
            page(Page::Items(items(&mut list, &resource.gvk)));
            let next = list.at(&["metadata", "continue"]).and_then(Node::as_str);
            match next.filter(|token| !token.is_empty()) {
                Some(token) => from = Some(token.to_owned()),
                None => return Ok(resource_version(&list)),
            }
        }
    }
}

/// Takes the objects out of a list. Those of built-in kinds come without what they are, which is then
/// known from the list alone.
fn items(list: &mut Node, gvk: &Gvk) -> Vec<Node> {
    let items = list.get_mut("items").and_then(Node::as_seq_mut).map(std::mem::take);
    let mut items = items.unwrap_or_default();
    let api_version = Text::from(gvk.api_version());
    for item in items.iter_mut().filter_map(Node::as_map_mut) {
        if !item.contains("kind") {
            let head = [
                Entry::new("apiVersion", Node::string(api_version.clone())),
                Entry::new("kind", Node::string(gvk.kind.clone())),
            ];
            item.entries_mut().splice(0..0, head);
        }
    }
    items
}

/// Whether a list of operations is for one revision of the object only. Others, such as those that add to
/// a list, do something else the second time.
fn names_a_revision(operations: &Node) -> bool {
    operations.as_seq().is_some_and(|operations| {
        operations.iter().any(|operation| {
            let path = operation.get("path").and_then(Node::as_str);
            path == Some("/metadata/resourceVersion")
        })
    })
}

/// Where something is written to, and by whom.
fn written(path: String, manager: &str) -> Url {
    // Warnings of unknown fields, which nobody reads here, cost the server a second reading of every body.
    Url::new(path).with("fieldManager", manager).with("fieldValidation", "Ignore")
}

const fn dry_run(write: Write) -> Option<&'static str> {
    match write {
        Write::Real => None,
        Write::DryRun => Some("All"),
    }
}

fn delete_options(options: &DeleteOptions<'_>) -> Result<String, Error> {
    let string = |key: &'static str, value: &str| Entry::new(key, Node::string(value));
    let map = |entries: Vec<Entry>| Node::new(Pos::default(), Value::Map(Map::from(entries)));
    let policy = match options.propagation {
        Propagation::Background => "Background",
        Propagation::Foreground => "Foreground",
        Propagation::Orphan => "Orphan",
    };
    let mut body = vec![
        string("apiVersion", "v1"),
        string("kind", "DeleteOptions"),
        string("propagationPolicy", policy),
    ];
    let uid = options.uid.map(|uid| string("uid", uid));
    let version = options.resource_version.map(|version| string("resourceVersion", version));
    let preconditions: Vec<Entry> = uid.into_iter().chain(version).collect();
    if !preconditions.is_empty() {
        body.push(Entry::new("preconditions", map(preconditions)));
    }
    if let Some(all) = dry_run(options.write) {
        body.push(Entry::new("dryRun", Node::seq(vec![Node::string(all)])));
    }
    Ok(to_json(&map(body))?)
}

impl Cluster for Client {
    async fn resource(&self, gvk: &Gvk) -> Result<Option<Resource>, Error> {
        let kinds = self.kinds(|kinds| kinds.get(gvk).is_some()).await?;
        Ok(kinds.get(gvk).cloned())
    }

    async fn resource_in_any_version(&self, gvk: &Gvk) -> Result<Option<Resource>, Error> {
        let kinds = self.kinds(|kinds| kinds.in_any_version(gvk).is_some()).await?;
        match kinds.in_any_version(gvk) {
            None if kinds.is_down(&gvk.group) => {
                Err(Error::GroupDown { group: gvk.group.to_string() })
            }
            found => Ok(found.cloned()),
        }
    }

    async fn preferred_resource(&self, group: &str, kind: &str) -> Result<Option<Resource>, Error> {
        let kinds = self.kinds(|kinds| kinds.preferred(group, kind).is_some()).await?;
        Ok(kinds.preferred(group, kind).cloned())
    }

    fn forget_resources(&self) {
        self.shared().kinds.forget();
    }

    async fn get(&self, object: ObjectName<'_>) -> Result<Option<Node>, Error> {
        match self.object(&Request::get(path::object(object)?)).await {
            Err(error) if error.is_not_found() => Ok(None),
            node => node.map(Some),
        }
    }

    async fn list_pages(
        &self,
        resource: &Resource,
        options: ListOptions<'_>,
        mut page: impl FnMut(Vec<Node>) + Send,
    ) -> Result<String, Error> {
        let see = |part| {
            if let Page::Items(items) = part {
                page(items);
            }
        };
        self.pages(resource, options, see).await
    }

    async fn list(&self, resource: &Resource, options: ListOptions<'_>) -> Result<List, Error> {
        let mut items = Vec::new();
        let see = |part| match part {
            Page::Items(page) => items.extend(page),
            Page::Restart => items.clear(),
        };
        let resource_version = self.pages(resource, options, see).await?;
        Ok(List { items, resource_version })
    }

    async fn watch(
        &self,
        resource: &Resource,
        options: WatchOptions<'_>,
    ) -> Result<impl Stream<Item = Result<Event, Error>> + Send + Unpin + 'static, Error> {
        self.open_watch(resource, options).await
    }

    async fn apply(
        &self,
        object: ObjectName<'_>,
        body: &Node,
        options: ApplyOptions<'_>,
    ) -> Result<Node, Error> {
        let url = written(path::object(object)?, options.manager)
            .with("force", if options.force { "true" } else { "false" })
            .with_some("dryRun", dry_run(options.write));
        // The server reads it as YAML, and JSON by those rules costs it more.
        let request =
            Request::new(Method::PATCH, url.finish()).with_body(APPLY_PATCH, to_blocks(body)?);
        self.write(&request, object.resource).await
    }

    async fn create(
        &self,
        object: ObjectName<'_>,
        body: &Node,
        manager: &str,
    ) -> Result<Node, Error> {
        let url = written(path::collection_of(object)?, manager);
        let request = Request::new(Method::POST, url.finish())
            .with_body(JSON, to_json(body)?)
            .repeating(Repeat::IfUndone);
        self.write(&request, object.resource).await
    }

    async fn replace(
        &self,
        object: ObjectName<'_>,
        body: &Node,
        manager: &str,
    ) -> Result<Node, Error> {
        let url = written(path::object(object)?, manager);
        let request = Request::new(Method::PUT, url.finish()).with_body(JSON, to_json(body)?);
        self.write(&request, object.resource).await
    }

    async fn patch(
        &self,
        object: ObjectName<'_>,
        patch_type: PatchType,
        body: &Node,
        manager: &str,
    ) -> Result<Node, Error> {
        let url = written(path::object(object)?, manager);
        let (content, repeat) = match patch_type {
            PatchType::Json if names_a_revision(body) => (JSON_PATCH, Repeat::Always),
            PatchType::Json => (JSON_PATCH, Repeat::IfUndone),
            PatchType::Merge => (MERGE_PATCH, Repeat::Always),
        };
        let request = Request::new(Method::PATCH, url.finish())
            .with_body(content, to_json(body)?)
            .repeating(repeat);
        self.write(&request, object.resource).await
    }

    async fn patch_status(
        &self,
        object: ObjectName<'_>,
        body: &Node,
        manager: &str,
    ) -> Result<Node, Error> {
        let path = format!("{}/status", path::object(object)?);
        let url = written(path, manager);
        let request =
            Request::new(Method::PATCH, url.finish()).with_body(MERGE_PATCH, to_json(body)?);
        self.write(&request, object.resource).await
    }

    async fn delete(
        &self,
        object: ObjectName<'_>,
        options: DeleteOptions<'_>,
    ) -> Result<bool, Error> {
        let request = Request::new(Method::DELETE, path::object(object)?)
            .with_body(JSON, delete_options(&options)?);
        let mut retry = Retry::new(self.deadline());
        match self.exchange_with(&request, &mut retry).await {
            Ok(_) => Ok(true),
            // An earlier try may be the reason that there is nothing any more.
            Err(error) if error.is_not_found() => Ok(retry.maybe_done()),
            Err(error) => Err(error),
        }
    }
}
