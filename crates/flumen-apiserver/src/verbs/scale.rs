//! The scale of an object: its replicas as a kind of their own.

use flumen_fields::{FieldError, Filter, Path, ScalePaths, Write as Ownership};
use flumen_kinds::Target;
use flumen_schema::api::Api as Facts;
use serde_json::Value;

use super::{
    Request, body, get,
    options::WriteOptions,
    patch::{Change, check_media},
    write::{self, Update},
};
use crate::{
    Answer, ApiError, Behaviour, Verb, clock, meta,
    ownership::{self, SCALE_VERSION, ScaleVersions},
    rules::{self, Read},
    storage::Stored,
};

pub(crate) async fn scale(request: &Request<'_>) -> Result<Answer, ApiError> {
    match request.target().verb {
        Verb::Get => {
            let stored = get::stored(request).await?;
            let live = rules::live(&request.resource, stored);
            Ok(request.answer_as_is(200, rules::scale_of(&request.resource, &live.object)?))
        }
        Verb::Update | Verb::Patch => write_scale(request).await,
        _ => Err(ApiError::method_not_allowed()),
    }
}

async fn write_scale(request: &Request<'_>) -> Result<Answer, ApiError> {
    let options = WriteOptions::of(request.call)?;
    let whole = match request.target().verb {
        Verb::Update => Some(read_scale(request, &options)?),
        _ => None,
    };
    if whole.is_none() {
        check_media(request)?;
    }
    let make = |live: Option<&Stored>| -> Result<Value, ApiError> {
        let live = live.ok_or_else(|| request.not_found(&request.target().name))?;
        let sent = match &whole {
            Some(whole) => Sent::Whole(whole.clone()),
            None => Sent::Change(Change::parse(request, options.field_validation)?),
        };
        sent.apply_to(request, live, &options)
    };
    let update = Update {
        name: &request.target().name,
        subresource: "",
        make: &make,
        creates: false,
        uid: None,
        options: &options,
    };
    let (object, _) = write::update(request, &update).await?;
    Ok(request.answer_as_is(200, rules::scale_of(&request.resource, &object)?))
}

fn read_scale(request: &Request<'_>, options: &WriteOptions) -> Result<Value, ApiError> {
    let message = Facts::get().message("autoscaling", "v1", "Scale");
    let message = message.ok_or_else(|| ApiError::internal("there is no type of scales"))?;
    let media = body::media_of(request.call.media)?;
    let decoded = flumen_kinds::decode(&request.call.body, media, &Target::from(message))
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
    body::report(request, options.field_validation, decoded.strict.into())
        .map_err(ApiError::bad_request)?;
    let mut scale = decoded.object;
    body::match_namespace(request, &mut scale)?;
    body::match_name(request, &scale)?;
    Ok(scale)
}

enum Sent {
    Whole(Value),
    Change(Change),
}

impl Sent {
    /// The object with the replicas that were sent, and who owns them.
    fn apply_to(
        &self,
        request: &Request<'_>,
        live: &Stored,
        options: &WriteOptions,
    ) -> Result<Value, ApiError> {
        let api_version = request.resource.api_version();
        let catalog = request.api.catalog();
        let versions = catalog.resources().iter();
        let versions = versions.filter(|other| other.location == request.resource.location);
        let paths: Vec<(String, Option<Vec<&str>>)> = versions
            .map(|other| {
                let path = other.subresource("scale").map(|_| rules::replicas_path(other));
                (other.api_version(), path)
            })
            .collect();
        let paths: Vec<(&str, Option<&[&str]>)> =
            paths.iter().map(|(version, path)| (&**version, path.as_deref())).collect();
        let paths = ScalePaths(&paths);
        let managed = meta::of(&live.object).and_then(|meta| meta.get("managedFields"));
        let owned = flumen_fields::scale_from_parent(managed, paths);
        if let Self::Change(Change::Apply(_)) = self {
            check_owned(request, owned.is_some())?;
        }
        let mut present = rules::changing_scale_of(&request.resource, &live.object)?;
        if let Some(owned) = owned {
            meta::set(&mut present, "managedFields", owned);
        }
        let scale = self.scale(request, &present, options)?;
        if replicas(&scale) == flumen_crd::Scale::UNSET {
            let path = format!(".{}", rules::replicas_path(&request.resource).join("."));
            let why = format!("the spec replicas field {path:?} cannot be empty");
            return Err(ApiError::bad_request(why));
        }
        check(request, &scale, &live.object)?;
        let mut object = live.object.clone();
        let version = meta::resource_version(&scale);
        if rules::updates_without_version(&request.resource) || !version.is_empty() {
            meta::set(&mut object, "resourceVersion", version);
        }
        rules::set_replicas(&request.resource, &mut object, replicas(&scale));
        let of_scale = scale["metadata"].get("managedFields");
        let managed = flumen_fields::scale_to_parent(managed, of_scale, &api_version, paths)
            .map_err(ApiError::internal)?;
        match managed {
            Some(managed) => meta::set(&mut object, "managedFields", managed),
            None => drop(meta::remove(&mut object, "managedFields")),
        }
        Ok(object)
    }

    /// The scale as it shall be.
    fn scale(
        &self,
        request: &Request<'_>,
        present: &Value,
        options: &WriteOptions,
    ) -> Result<Value, ApiError> {
        let now = clock::text(clock::now());
        let ownership = Ownership {
            versions: &ScaleVersions,
            api_version: SCALE_VERSION,
            kind: "Scale",
            subresource: "scale",
            filter: Filter::NONE,
            now: &now,
        };
        let read = |value: &Value| read_value(value);
        let mut scale = match self {
            Self::Whole(scale) => {
                let mut scale = scale.clone();
                flumen_fields::update(&ownership, Some(present), &mut scale, &options.manager);
                scale
            }
            Self::Change(Change::Patch(patch)) => {
                let of = Facts::get().message("autoscaling", "v1", "Scale").map(|m| m.object);
                let mut scale =
                    patch.apply(request, present.clone(), of, &read, options.field_validation)?;
                flumen_fields::update(&ownership, Some(present), &mut scale, &options.manager);
                scale
            }
            Self::Change(Change::Apply(config)) => {
                let scale = applied(request, &ownership, present, config, options)?;
                read(&scale).map_err(|why| ApiError::new(500, None, why))?.object
            }
        };
        body::match_namespace(request, &mut scale)?;
        body::match_name(request, &scale)?;
        Ok(scale)
    }
}

/// The real server cannot convert the scale of a custom resource: neither the empty one that it begins
/// with where nobody owns the replicas, nor one that has changed.
fn not_converted(what: &str, object: &Value) -> ApiError {
    let (namespace, name) = (meta::text(object, "namespace"), meta::name(object));
    let why = format!(
        "{what} object ({namespace}/{name}; {SCALE_VERSION}, Kind=Scale) to proper version: request to \
         convert CR to an invalid group/version: {SCALE_VERSION}"
    );
    ApiError::new(500, None, why)
}

fn check_owned(request: &Request<'_>, is_owned: bool) -> Result<(), ApiError> {
    if is_owned || matches!(request.resource.behaviour, Behaviour::Builtin { .. }) {
        return Ok(());
    }
    let what = "failed to create manager for existing fields: failed to convert live";
    Err(not_converted(what, &Value::Null))
}

/// Merges what was applied.
fn applied(
    request: &Request<'_>,
    ownership: &Ownership<'_>,
    present: &Value,
    config: &Value,
    options: &WriteOptions,
) -> Result<Value, ApiError> {
    let scale =
        flumen_fields::apply(ownership, Some(present), config, &options.manager, options.force)
            .map_err(ownership::refused)?;
    let is_custom = matches!(request.resource.behaviour, Behaviour::Custom { .. });
    if is_custom && !is_same_but_owners(&scale, present) {
        return Err(not_converted("failed to convert new", config));
    }
    Ok(scale)
}

/// Whether two scales differ in nothing but who manages their fields.
fn is_same_but_owners(one: &Value, other: &Value) -> bool {
    let [mut one, mut other] = [one.clone(), other.clone()];
    for scale in [&mut one, &mut other] {
        meta::remove(scale, "managedFields");
    }
    one == other
}

fn read_value(value: &Value) -> Result<Read, String> {
    let message = Facts::get().message("autoscaling", "v1", "Scale");
    let message = message.ok_or("there is no type of scales")?;
    let decoded = flumen_kinds::decode_value(value, message.object)?;
    let (object, problems) = (decoded.object, decoded.strict.into());
    Ok(Read { object, problems, traces: decoded.traces })
}

fn replicas(scale: &Value) -> i64 {
    scale["spec"]["replicas"].as_i64().unwrap_or_default()
}

fn check(request: &Request<'_>, scale: &Value, live: &Value) -> Result<(), ApiError> {
    let name = meta::name(live);
    // The rules of a custom resource say it themselves.
    let is_custom = matches!(request.resource.behaviour, Behaviour::Custom { .. });
    if replicas(scale) < 0 && !is_custom {
        let spec = Path::new("spec");
        let why = "must be greater than or equal to 0";
        let error = FieldError::invalid(&spec.child("replicas"), replicas(scale), why);
        return Err(ApiError::invalid("autoscaling", "Scale", name, &[error]));
    }
    let (wanted, found) = (meta::uid(scale), meta::uid(live));
    if !wanted.is_empty() && wanted != found {
        let why = format!(
            "Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
        );
        let resource = &request.resource;
        let plural = format!("{}/scale", resource.plural);
        return Err(ApiError::conflict(&resource.group, &plural, name, &why));
    }
    Ok(())
}
