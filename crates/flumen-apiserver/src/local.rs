//! The server as its own parts use it: no network, no authorisation, the same rules.

use bytes::Bytes;
use serde_json::Value;

use crate::{
    Answer, Api, ApiError, Call, Media, Payload, Query, Representation, Target, User, Verb, rules,
    storage,
};

/// Which resource is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceName<'a> {
    pub group: &'a str,
    pub version: &'a str,
    pub plural: &'a str,
}

impl<'a> ResourceName<'a> {
    pub const fn new(group: &'a str, version: &'a str, plural: &'a str) -> Self {
        Self { group, version, plural }
    }
}

/// A part of the server as a client of it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    api: Api,
    user: User,
    /// The manager of the fields that it writes.
    manager: String,
}

/// Which objects of a list are meant. Empty selects all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Select<'a> {
    /// Empty lists all namespaces.
    pub namespace: &'a str,
    pub labels: &'a str,
}

/// What may be said about a deletion.
#[derive(Clone, Debug, Default)]
pub struct Deletion {
    /// `Background`, `Foreground` or `Orphan`.
    pub propagation: Option<&'static str>,
    pub grace_seconds: Option<i64>,
    /// Deletes only the object with this identity.
    pub uid: Option<String>,
}

impl Client {
    /// A client by this name, which is also the manager of the fields that it writes.
    pub fn new(api: Api, name: &str) -> Self {
        Self { api, user: User::internal(name), manager: name.to_owned() }
    }

    pub fn api(&self) -> &Api {
        &self.api
    }

    pub async fn get(
        &self,
        of: ResourceName<'_>,
        namespace: &str,
        name: &str,
    ) -> Result<Value, ApiError> {
        self.object(self.call(Verb::Get, of, namespace, name)).await
    }

    /// Lists objects, each with its `apiVersion` and `kind`.
    pub async fn list(
        &self,
        of: ResourceName<'_>,
        select: Select<'_>,
    ) -> Result<Vec<Value>, ApiError> {
        let mut call = self.call(Verb::List, of, select.namespace, "");
        if !select.labels.is_empty() {
            call.query.0.push(("labelSelector".to_owned(), select.labels.to_owned()));
        }
        match self.api.handle(call).await?.payload {
            Payload::List { resource, items, .. } => {
                let read = |entry| Ok(rules::presented(&resource, storage::decode(entry)?));
                items.iter().map(read).collect()
            }
            _ => Err(ApiError::internal("a list was answered with something else")),
        }
    }

    pub async fn create(
        &self,
        of: ResourceName<'_>,
        namespace: &str,
        object: &Value,
    ) -> Result<Value, ApiError> {
        let call = self.call(Verb::Create, of, namespace, "");
        self.object(with_body(call, Media::Json, object)).await
    }

    /// Creates a subresource of an object, such as the binding of a pod. No manager owns fields by it.
    pub async fn create_part(
        &self,
        of: ResourceName<'_>,
        (namespace, name): (&str, &str),
        subresource: &str,
        part: &Value,
    ) -> Result<(), ApiError> {
        let mut call = self.call(Verb::Create, of, namespace, name);
        subresource.clone_into(&mut call.target.subresource);
        call.query = Query::default();
        self.api.handle(with_body(call, Media::Json, part)).await.map(drop)
    }

    /// Replaces an object. Its name and namespace are in it.
    pub async fn update(&self, of: ResourceName<'_>, object: &Value) -> Result<Value, ApiError> {
        self.update_part(of, object, "").await
    }

    pub async fn update_status(
        &self,
        of: ResourceName<'_>,
        object: &Value,
    ) -> Result<Value, ApiError> {
        self.update_part(of, object, "status").await
    }

    /// Replaces what a subresource is about.
    pub async fn update_part(
        &self,
        of: ResourceName<'_>,
        object: &Value,
        subresource: &str,
    ) -> Result<Value, ApiError> {
        let (namespace, name) = (crate::meta::namespace(object), crate::meta::name(object));
        let mut call = self.call(Verb::Update, of, namespace, name);
        subresource.clone_into(&mut call.target.subresource);
        self.object(with_body(call, Media::Json, object)).await
    }

    /// Changes an object by a patch of a type; the subresource may be empty.
    pub async fn patch(
        &self,
        of: ResourceName<'_>,
        (namespace, name): (&str, &str),
        subresource: &str,
        (media, patch): (Media, &Value),
    ) -> Result<Value, ApiError> {
        let mut call = self.call(Verb::Patch, of, namespace, name);
        subresource.clone_into(&mut call.target.subresource);
        self.object(with_body(call, media, patch)).await
    }

    /// Server-side apply, by force.
    pub async fn apply(&self, of: ResourceName<'_>, object: &Value) -> Result<Value, ApiError> {
        let (namespace, name) = (crate::meta::namespace(object), crate::meta::name(object));
        let mut call = self.call(Verb::Patch, of, namespace, name);
        call.query.0.push(("force".to_owned(), "true".to_owned()));
        self.object(with_body(call, Media::ApplyJson, object)).await
    }

    pub async fn delete(
        &self,
        of: ResourceName<'_>,
        namespace: &str,
        name: &str,
        deletion: Deletion,
    ) -> Result<(), ApiError> {
        let call = self.call(Verb::Delete, of, namespace, name);
        let call = with_body(call, Media::Json, &deletion.to_options());
        self.api.handle(call).await.map(drop)
    }

    async fn object(&self, call: Call) -> Result<Value, ApiError> {
        match self.api.handle(call).await? {
            Answer { payload: Payload::Object { object, .. }, .. } => Ok(object),
            _ => Err(ApiError::internal("an object was asked for and something else came")),
        }
    }

    fn call(&self, verb: Verb, of: ResourceName<'_>, namespace: &str, name: &str) -> Call {
        let mut query = Query::default();
        if matches!(verb, Verb::Create | Verb::Update | Verb::Patch) {
            query.0.push(("fieldManager".to_owned(), self.manager.clone()));
        }
        Call {
            user: self.user.clone(),
            target: Target {
                verb,
                group: of.group.to_owned(),
                version: of.version.to_owned(),
                resource: of.plural.to_owned(),
                subresource: String::new(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
            query,
            user_agent: self.manager.clone(),
            media: None,
            body: Bytes::new(),
            representation: Representation::Object,
        }
    }
}

fn with_body(mut call: Call, media: Media, body: &Value) -> Call {
    call.media = Some(media);
    // A tree of JSON has no way to fail.
    call.body = serde_json::to_vec(body).unwrap_or_default().into();
    call
}

impl Deletion {
    fn to_options(&self) -> Value {
        let mut options = serde_json::json!({});
        if let Some(propagation) = self.propagation {
            options["propagationPolicy"] = propagation.into();
        }
        if let Some(seconds) = self.grace_seconds {
            options["gracePeriodSeconds"] = seconds.into();
        }
        if let Some(uid) = &self.uid {
            options["preconditions"]["uid"] = uid.as_str().into();
        }
        options
    }
}
