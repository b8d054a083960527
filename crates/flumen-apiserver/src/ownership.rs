//! Who owns the fields of objects: what `flumen-fields` needs to know of a resource.

use std::sync::Arc;

use flumen_fields::{ApplyError, Filter, Schema, Versions, Write};
use flumen_schema::api::Api as Facts;
use serde_json::{Value, json};

use crate::{ApiError, Behaviour, Catalog, Cause, Details, Reason, Resource, clock, rules};

/// A write of objects of a resource, or of a subresource of them.
#[derive(Debug)]
pub(crate) struct Ownership {
    versions: ResourceVersions,
    api_version: String,
    subresource: String,
    filter: Filter,
    now: String,
}

impl Ownership {
    /// Objects are in the version of the resource.
    pub(crate) fn new(catalog: Arc<Catalog>, resource: &Arc<Resource>, subresource: &str) -> Self {
        let has_status = resource.subresource("status").is_some();
        let filter = match &resource.behaviour {
            Behaviour::Builtin { kind, .. } => {
                Filter::of_builtin(kind.kind, subresource, has_status)
            }
            Behaviour::Custom { .. } => Filter::of_endpoint(subresource, has_status),
        };
        Self {
            api_version: resource.api_version(),
            versions: ResourceVersions { catalog, resource: Arc::clone(resource) },
            subresource: subresource.to_owned(),
            filter,
            now: clock::text(clock::now()),
        }
    }

    fn write(&self) -> Write<'_> {
        Write {
            versions: &self.versions,
            api_version: &self.api_version,
            kind: &self.versions.resource.kind,
            subresource: &self.subresource,
            filter: &self.filter,
            now: &self.now,
        }
    }

    /// Notes what a manager changed.
    pub(crate) fn update(&self, live: Option<&Value>, new: &mut Value, manager: &str) {
        flumen_fields::update(&self.write(), live, new, manager);
    }

    /// Merges what a manager wants into what is there.
    pub(crate) fn apply(
        &self,
        live: Option<&Value>,
        config: &Value,
        manager: &str,
        force: bool,
    ) -> Result<Value, ApiError> {
        flumen_fields::apply(&self.write(), live, config, manager, force).map_err(refused)
    }
}

pub(crate) fn refused(error: ApplyError) -> ApiError {
    match error {
        ApplyError::NotAllowed(message) => ApiError::bad_request(message),
        ApplyError::Typed(message) | ApplyError::Failed(message) => {
            ApiError::new(500, None, message)
        }
        ApplyError::Conflicts(conflicts) => {
            let cause = |conflict: flumen_fields::Conflict| Cause {
                reason: "FieldManagerConflict".to_owned(),
                message: conflict.message,
                field: conflict.field,
            };
            let causes = conflicts.each().into_iter().map(cause).collect();
            ApiError::new(409, Some(Reason::Conflict), conflicts.to_string())
                .with_details(Details { causes, ..Details::default() })
        }
    }
}

/// All served versions of a resource.
#[derive(Debug)]
struct ResourceVersions {
    catalog: Arc<Catalog>,
    resource: Arc<Resource>,
}

impl ResourceVersions {
    /// The resource in another version; none if it is not served in it.
    fn other(&self, api_version: &str) -> Option<&Arc<Resource>> {
        if self.resource.api_version() == api_version {
            return Some(&self.resource);
        }
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let other = self.catalog.find(group, version, &self.resource.plural)?;
        (other.location == self.resource.location).then_some(other)
    }
}

impl Versions for ResourceVersions {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        match &self.other(api_version)?.behaviour {
            Behaviour::Builtin { kind, .. } => Some(Schema::of_builtin(kind.object)),
            Behaviour::Custom { version, .. } => Some(version.apply_schema()),
        }
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String> {
        let from = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        match (self.other(from), self.other(api_version)) {
            (Some(from), Some(to)) if !Arc::ptr_eq(from, to) => {
                // Nothing is pruned or filled in: what another version does not know is an error.
                let mut object = object.clone();
                if let (
                    Behaviour::Builtin { kind: from, .. },
                    Behaviour::Builtin { kind: to, .. },
                ) = (&from.behaviour, &to.behaviour)
                {
                    return Ok(flumen_kinds::convert_as_is(object, from, to));
                }
                object["apiVersion"] = api_version.into();
                Ok(object)
            }
            _ => Ok(object.clone()),
        }
    }

    fn empty(&self) -> Value {
        match &self.resource.behaviour {
            Behaviour::Builtin { kind, .. } => {
                let mut empty = flumen_kinds::zero(kind.object);
                rules::name_kind(&self.resource, &mut empty);
                empty
            }
            Behaviour::Custom { .. } => json!({
                "apiVersion": self.resource.api_version(),
                "kind": self.resource.kind,
            }),
        }
    }
}

/// The scale of an object as a kind of its own, which has one version.
#[derive(Debug)]
pub(crate) struct ScaleVersions;

pub(crate) const SCALE_VERSION: &str = "autoscaling/v1";

impl Versions for ScaleVersions {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        let message = Facts::get().message("autoscaling", "v1", "Scale")?;
        (api_version == SCALE_VERSION).then(|| Schema::of_builtin(message.object))
    }

    fn convert(&self, object: &Value, _api_version: &str) -> Result<Value, String> {
        Ok(object.clone())
    }

    fn empty(&self) -> Value {
        json!({ "kind": "Scale", "apiVersion": SCALE_VERSION, "metadata": {}, "spec": {}, "status": { "replicas": 0 } })
    }
}
