//! New objects.

use serde_json::{Map, Value};

use super::{
    Request, body,
    options::WriteOptions,
    write::{self, Write},
};
use crate::{Answer, ApiError, clock, conversion, definitions, meta, rules, storage};

/// Names that are tried for a generated name.
const NAME_ATTEMPTS: usize = 8;

pub(crate) async fn create(request: &Request<'_>) -> Result<Answer, ApiError> {
    let options = WriteOptions::of(request.call)?;
    let mut object = body::object(request, options.field_validation)?;
    wipe_system_fields(&mut object);
    body::match_namespace(request, &mut object)?;
    write::deduplicate_owners(request, &mut object, write::Moment::Sent);
    let inherits = rules::inherit_early(&request.resource, &mut object);
    let mut object = write::own(request, None, object, &options, "");
    // The labels are copied when a name is generated.
    if inherits && !meta::name(&object).is_empty() {
        leave_labels_to_template(&mut object);
    }
    let object = rules::to_hub(&request.resource, object);
    let created = insert(request, object, &options).await?;
    Ok(request.answer(201, created))
}

/// Empties labels that are one mapping with those of the template, which is yet to grow.
pub(crate) fn leave_labels_to_template(object: &mut Value) {
    meta::set(object, "labels", Map::new());
}

/// What only the server says about an object.
pub(crate) fn wipe_system_fields(object: &mut Value) {
    for field in
        ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "uid"]
    {
        meta::remove(object, field);
    }
}

/// Stores an object that is not there yet: admission, names, preparation, validation.
pub(crate) async fn insert(
    request: &Request<'_>,
    mut object: Value,
    options: &WriteOptions,
) -> Result<Value, ApiError> {
    definitions::admit_new(request.api, &request.resource, meta::name(&object))?;
    let write = Write::create(request, options);
    write.mutate(&mut object, None).await?;
    let generated =
        meta::name(&object).is_empty() && !meta::text(&object, "generateName").is_empty();
    if !generated {
        return insert_named(&write, object).await;
    }
    let prefix = meta::text(&object, "generateName").to_owned();
    for _ in 1..NAME_ATTEMPTS {
        let mut named = object.clone();
        meta::set(&mut named, "name", clock::generate_name(&prefix));
        match insert_named(&write, named).await {
            Err(error) if error.reason() == Some(crate::Reason::AlreadyExists) => {}
            done => return done,
        }
    }
    meta::set(&mut object, "name", clock::generate_name(&prefix));
    insert_named(&write, object).await
}

async fn insert_named(write: &Write<'_>, mut object: Value) -> Result<Value, ApiError> {
    let request = write.request;
    meta::set(&mut object, "uid", clock::uid());
    meta::set(&mut object, "creationTimestamp", clock::text(clock::now()));
    let reservation = write.prepare_create(&mut object)?;
    write.validate_admission(&object, None).await?;
    let version = meta::resource_version(&object);
    // A dry run does not get as far as the storage, which asks for that.
    if !write.options.dry_run {
        if !version.is_empty() && version != "0" {
            let why = "resourceVersion should not be set on objects to be created";
            return Err(ApiError::new(500, None, why));
        }
        meta::remove(&mut object, "resourceVersion");
    }
    rules::check_stored(&request.resource, &object)?;
    let name = meta::name(&object).to_owned();
    let key = request.key(&name);
    let store = request.api.store();
    let mut value = conversion::encode_new(request.api, &request.resource, &mut object).await?;
    if request.is_unsettled() {
        storage::unsettle(&mut value);
    }
    if write.options.dry_run {
        drop(write.charges(&object, None)?);
        return match storage::get(store, &key)? {
            Some(existing) => Err(already_exists(request, &name, &existing.object)),
            None => Ok(object),
        };
    }
    let revision = loop {
        let charges = write.charges(&object, None)?;
        match storage::put_with(store, key.clone(), None, &value, charges).await {
            Ok(revision) => break revision,
            Err(storage::WriteError::Conflict) => {
                if let Some(existing) = storage::get(store, &key)? {
                    return Err(already_exists(request, &name, &existing.object));
                }
                // A quota has changed meanwhile.
            }
            Err(storage::WriteError::Other(error)) => return Err(error),
        }
    };
    reservation.keep();
    meta::set(&mut object, "resourceVersion", revision.to_string());
    if definitions::are_meant(&request.resource) {
        definitions::settle(request.api, &name).await?;
    }
    Ok(object)
}

fn already_exists(request: &Request<'_>, name: &str, existing: &Value) -> ApiError {
    let error = ApiError::already_exists(&request.resource.group, &request.resource.plural, name);
    if meta::is_deleting(existing) {
        let message = format!("object is being deleted: {}", error.message());
        return error.with_message(message);
    }
    error
}
