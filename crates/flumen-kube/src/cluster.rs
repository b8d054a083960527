//! What delivery asks of an API server.

use std::{future::Future, sync::Arc};

use flumen_object::Gvk;
use flumen_yaml::Node;
use futures_util::Stream;

use crate::Error;

/// How a kind is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub gvk: Gvk,
    /// The name in paths, such as `deployments`.
    pub plural: Arc<str>,
    pub namespaced: bool,
    /// What may be done with it, such as `list` and `watch`.
    pub verbs: Arc<[Arc<str>]>,
}

/// One object of a [`Resource`]. The namespace is empty for kinds that have none.
#[derive(Clone, Copy, Debug)]
pub struct ObjectName<'a> {
    pub resource: &'a Resource,
    pub namespace: &'a str,
    pub name: &'a str,
}

/// Whether a request changes the cluster or only says what would happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Write {
    #[default]
    Real,
    DryRun,
}

#[derive(Clone, Copy, Debug)]
pub struct ApplyOptions<'a> {
    pub manager: &'a str,
    /// Take fields over from other managers.
    pub force: bool,
    pub write: Write,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// A list of JSON 6902 operations.
    Json,
    /// RFC 7386.
    Merge,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ListOptions<'a> {
    /// One namespace, or all of them.
    pub namespace: Option<&'a str>,
    pub label_selector: Option<&'a str>,
    pub field_selector: Option<&'a str>,
}

/// What a list request found, and the revision from which a watch goes on.
#[derive(Clone, Debug)]
pub struct List {
    pub items: Vec<Node>,
    pub resource_version: String,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct WatchOptions<'a> {
    pub list: ListOptions<'a>,
    /// Where to begin: what a list answered.
    pub resource_version: &'a str,
}

/// What happened to a watched object.
#[derive(Clone, Debug)]
pub enum Event {
    /// Created or changed.
    Applied(Node),
    Deleted(Node),
    /// Nothing happened, but the watch is at this revision.
    Bookmark {
        resource_version: String,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagation {
    #[default]
    Background,
    Foreground,
    Orphan,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct DeleteOptions<'a> {
    pub propagation: Propagation,
    /// Delete only this incarnation of the object.
    pub uid: Option<&'a str>,
    /// Delete only this state of the object.
    pub resource_version: Option<&'a str>,
    pub write: Write,
}

/// A cluster to deliver to.
///
/// Every method is one request unless it says otherwise. Requests that cannot have changed anything, or
/// that change the same thing when repeated, are tried again after answers that pass (429, 5xx, broken
/// connections), until the caller's deadline is over; the error is then that of the last try. What may
/// not be repeated (`create`, and JSON patches that name no revision) is tried again only when it was
/// certainly not done.
pub trait Cluster: Clone + Send + Sync + 'static {
    /// How a kind is served; `None` when it is not.
    ///
    /// Answered from memory. A kind that is unknown is asked for again, at most once a second.
    fn resource(&self, gvk: &Gvk) -> impl Future<Output = Result<Option<Resource>, Error>> + Send;

    /// Like [`Self::resource`] in this version, or else in whichever the server prefers. `None` only when there is certainly
    /// no such kind: if the server cannot tell, that is an error whose [`Error::is_group_down`] is true.
    fn resource_in_any_version(
        &self,
        gvk: &Gvk,
    ) -> impl Future<Output = Result<Option<Resource>, Error>> + Send;

    /// Like [`Self::resource`] for whichever version the server prefers.
    fn preferred_resource(
        &self,
        group: &str,
        kind: &str,
    ) -> impl Future<Output = Result<Option<Resource>, Error>> + Send;

    /// Forgets what is known of kinds, so that the next question asks the server.
    fn forget_resources(&self);

    /// `None` when there is no such object.
    fn get(
        &self,
        object: ObjectName<'_>,
    ) -> impl Future<Output = Result<Option<Node>, Error>> + Send;

    /// All objects that match, in pages: as many requests as there are pages. `page` sees the objects of
    /// each page as soon as it is there, so that not all of them need to be held. Returns the revision.
    ///
    /// When the server forgets the list between two pages it begins again, and `page` sees objects twice.
    fn list_pages(
        &self,
        resource: &Resource,
        options: ListOptions<'_>,
        page: impl FnMut(Vec<Node>) + Send,
    ) -> impl Future<Output = Result<String, Error>> + Send;

    /// All objects that match.
    fn list(
        &self,
        resource: &Resource,
        options: ListOptions<'_>,
    ) -> impl Future<Output = Result<List, Error>> + Send {
        async move {
            let mut items = Vec::new();
            let resource_version =
                self.list_pages(resource, options, |page| items.extend(page)).await?;
            Ok(List { items, resource_version })
        }
    }

    /// Changes since a revision. The stream ends when the server ends it; an expired revision is an
    /// error whose [`Error::is_expired`] is true.
    fn watch(
        &self,
        resource: &Resource,
        options: WatchOptions<'_>,
    ) -> impl Future<
        Output = Result<impl Stream<Item = Result<Event, Error>> + Send + Unpin + 'static, Error>,
    > + Send;

    /// Server-side apply. Returns the object as the server has it, or would have it.
    fn apply(
        &self,
        object: ObjectName<'_>,
        body: &Node,
        options: ApplyOptions<'_>,
    ) -> impl Future<Output = Result<Node, Error>> + Send;

    /// Creates an object; one that exists already is an error whose reason is `AlreadyExists`.
    fn create(
        &self,
        object: ObjectName<'_>,
        body: &Node,
        manager: &str,
    ) -> impl Future<Output = Result<Node, Error>> + Send;

    /// Replaces an object; its `resourceVersion`, when there is one, must be the current one.
    fn replace(
        &self,
        object: ObjectName<'_>,
        body: &Node,
        manager: &str,
    ) -> impl Future<Output = Result<Node, Error>> + Send;

    fn patch(
        &self,
        object: ObjectName<'_>,
        patch_type: PatchType,
        body: &Node,
        manager: &str,
    ) -> impl Future<Output = Result<Node, Error>> + Send;

    /// Changes the status of an object by a merge patch, where the status is a resource of its own.
    fn patch_status(
        &self,
        object: ObjectName<'_>,
        body: &Node,
        manager: &str,
    ) -> impl Future<Output = Result<Node, Error>> + Send;

    /// `false` when there was no such object, and no earlier try of this request can have deleted it.
    fn delete(
        &self,
        object: ObjectName<'_>,
        options: DeleteOptions<'_>,
    ) -> impl Future<Output = Result<bool, Error>> + Send;
}
