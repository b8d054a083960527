//! What all writes have in common: ownership of fields, admission, preparation, validation, and the
//! loop that writes only what nobody else has changed meanwhile.

use flumen_crd::Verdict;
use flumen_fields::{FieldError, Path};
use serde_json::{Map, Value};

use super::{Request, create, options::WriteOptions};
use crate::{
    ApiError,
    admission::{self, Attempt, Charges, Operation},
    clock, conversion, definitions, meta,
    ownership::Ownership,
    rules,
    services::{self, Reservation},
    storage::{self, Stored, WriteError},
};

const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// One create or update with what it needs at every step.
#[derive(Debug)]
pub(crate) struct Write<'a> {
    pub request: &'a Request<'a>,
    pub options: &'a WriteOptions,
    pub subresource: &'a str,
}

/// A change of an object that is usually there.
pub(crate) struct Update<'a> {
    pub name: &'a str,
    pub subresource: &'a str,
    /// The new state in the version that is stored, made from the present one. Asked again if someone
    /// else was faster.
    pub make: &'a (dyn Fn(Option<&Stored>) -> Result<Value, ApiError> + Send + Sync),
    /// Whether a missing object is created.
    pub creates: bool,
    /// The object must have this identity.
    pub uid: Option<&'a str>,
    pub options: &'a WriteOptions,
}

/// Updates an object; tells whether it was created instead.
pub(crate) async fn update(
    request: &Request<'_>,
    update: &Update<'_>,
) -> Result<(Value, bool), ApiError> {
    let key = request.key(update.name);
    let store = request.api.store();
    let write = Write { request, options: update.options, subresource: update.subresource };
    loop {
        let live = storage::get(store, &key)?;
        let Some(mut live) = live else {
            if !update.creates {
                return Err(request.not_found(update.name));
            }
            check_uid(request, update, "")?;
            let mut object = (update.make)(None)?;
            version_of(&object)?;
            if !update.options.dry_run {
                meta::remove(&mut object, "resourceVersion");
            }
            match create::insert(request, object, update.options).await {
                Err(error) if error.reason() == Some(crate::Reason::AlreadyExists) => continue,
                done => return done.map(|object| (object, true)),
            }
        };
        request.load(std::slice::from_mut(&mut live.object)).await?;
        let live = rules::live(&request.resource, live);
        check_uid(request, update, meta::uid(&live.object))?;
        let mut object = (update.make)(Some(&live))?;
        write.mutate(&mut object, Some(&live.object)).await?;
        check_version(request, update.name, &object, &live)?;
        meta::set(&mut object, "resourceVersion", live.revision.to_string());
        let reservation = write.prepare_update(&mut object, &live.object)?;
        write.validate_admission(&object, Some(&live.object)).await?;
        match write.commit(&key, object, &live).await {
            Err(WriteError::Conflict) => {}
            Err(WriteError::Other(error)) => return Err(error),
            Ok(object) => {
                if services::are_meant(&request.resource) && !update.options.dry_run {
                    reservation.keep();
                    request.api.services().release_difference(&live.object, &object);
                }
                let is_definition = definitions::are_meant(&request.resource)
                    && update.subresource.is_empty()
                    && !update.options.dry_run;
                if is_definition {
                    definitions::settle(request.api, update.name).await?;
                }
                return Ok((object, false));
            }
        }
    }
}

fn check_uid(request: &Request<'_>, update: &Update<'_>, found: &str) -> Result<(), ApiError> {
    let Some(wanted) = update.uid.filter(|wanted| *wanted != found) else { return Ok(()) };
    let why =
        format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}");
    Err(precondition_failed(request, update.name, update.options.dry_run, &why))
}

/// What the storage says of an object that is not the one that is meant.
pub(super) fn precondition_failed(
    request: &Request<'_>,
    name: &str,
    dry_run: bool,
    why: &str,
) -> ApiError {
    let key = visible_key(request, name);
    // A dry run ends before the storage adds its prefix.
    let key = key.strip_prefix("/registry").filter(|_| dry_run).unwrap_or(&key);
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
    );
    request.conflict(name, &why)
}

/// Resources that the real server keeps under another name.
const SPECIAL_KEYS: [(&str, &str); 5] = [
    ("endpoints", "services/endpoints"),
    ("ingresses", "ingress"),
    ("nodes", "minions"),
    ("replicationcontrollers", "controllers"),
    ("services", "services/specs"),
];

/// The key as messages of the server show it.
pub(crate) fn visible_key(request: &Request<'_>, name: &str) -> String {
    let resource = &request.resource;
    let mut key = String::from("/registry/");
    if !matches!(resource.behaviour, crate::Behaviour::Builtin { .. }) {
        key.push_str(&resource.group);
        key.push('/');
    }
    let special = SPECIAL_KEYS.iter().find(|(plural, _)| *plural == resource.plural);
    key.push_str(special.map_or(&resource.plural, |(_, key)| key));
    if !request.namespace().is_empty() {
        key.push('/');
        key.push_str(request.namespace());
    }
    key.push('/');
    key.push_str(name);
    key
}

/// The version that an object names; zero if it names none.
fn version_of(object: &Value) -> Result<u64, ApiError> {
    let version = meta::resource_version(object);
    if version.is_empty() {
        return Ok(0);
    }
    version.parse().map_err(|_| {
        let why = format!("strconv.ParseUint: parsing {version:?}: invalid syntax");
        ApiError::new(500, None, why)
    })
}

/// A version in the new state must be that of the present one.
fn check_version(
    request: &Request<'_>,
    name: &str,
    object: &Value,
    live: &Stored,
) -> Result<(), ApiError> {
    let number = version_of(object)?;
    if number == 0 {
        if rules::updates_without_version(&request.resource) {
            return Ok(());
        }
        let metadata = Path::new("metadata");
        let at = metadata.child("resourceVersion");
        let error = FieldError::invalid(&at, 0, "must be specified for an update");
        let resource = &request.resource;
        return Err(ApiError::invalid(&resource.group, &resource.plural, name, &[error]));
    }
    if number != live.revision {
        return Err(request.conflict(name, MODIFIED));
    }
    Ok(())
}

/// Notes who owns the fields of a new state, which is in the version of the request.
pub(crate) fn own(
    request: &Request<'_>,
    live: Option<&Stored>,
    mut object: Value,
    options: &WriteOptions,
    subresource: &str,
) -> Value {
    let ownership = Ownership::new(request.api.catalog(), &request.resource, subresource);
    let live = live.map(|live| rules::shown(&request.resource, &live.object));
    ownership.update(live.as_deref(), &mut object, &options.manager);
    if request.is_loose() {
        rules::tighten(&request.resource, &mut object);
    }
    object
}

/// When owners are looked at that are named twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Sent,
    /// Also of patches, whose results are not looked at before.
    Admitted,
}

/// Owners that are named twice are kept once.
pub(crate) fn deduplicate_owners(request: &Request<'_>, object: &mut Value, moment: Moment) {
    let Some(Value::Array(owners)) =
        object.get_mut("metadata").and_then(|meta| meta.get_mut("ownerReferences"))
    else {
        return;
    };
    let mut kept: Vec<Value> = Vec::new();
    let mut duplicates = Vec::new();
    for owner in owners.drain(..) {
        if kept.contains(&owner) {
            duplicates.push(owner["uid"].as_str().unwrap_or_default().to_owned());
        } else {
            kept.push(owner);
        }
    }
    *owners = kept;
    if !duplicates.is_empty() {
        let when = match moment {
            Moment::Sent => "",
            Moment::Admitted => " after mutating admission happens",
        };
        request.warn(format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner \
             references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; \
             duplicate UID(s) observed: {}",
            duplicates.join(", ")
        ));
    }
}

impl<'a> Write<'a> {
    pub(crate) fn create(request: &'a Request<'a>, options: &'a WriteOptions) -> Self {
        Self { request, options, subresource: "" }
    }

    /// Lets admission change the object.
    pub(crate) async fn mutate(
        &self,
        object: &mut Value,
        old: Option<&Value>,
    ) -> Result<(), ApiError> {
        admission::mutate(&self.attempt(old), object).await?;
        deduplicate_owners(self.request, object, Moment::Admitted);
        Ok(())
    }

    /// Lets admission refuse the object.
    pub(crate) async fn validate_admission(
        &self,
        object: &Value,
        old: Option<&Value>,
    ) -> Result<(), ApiError> {
        admission::validate(&self.attempt(old), object).await
    }

    /// What the object adds to quotas; refuses what is too much.
    pub(crate) fn charges(&self, object: &Value, old: Option<&Value>) -> Result<Charges, ApiError> {
        admission::charges(&self.attempt(old), object)
    }

    fn attempt<'b>(&'b self, old: Option<&'b Value>) -> Attempt<'b> {
        let operation = if old.is_some() { Operation::Update } else { Operation::Create };
        Attempt { request: self.request, operation, old, dry_run: self.options.dry_run }
    }

    /// Roles and bindings must not give anyone more than their author has.
    fn check_grant(&self, object: &Value, old: Option<&Value>) -> Result<(), ApiError> {
        let Request { api, call, resource, .. } = self.request;
        let Some(rbac) = api.rbac() else { return Ok(()) };
        rbac.check_grant(&call.user, resource, old, object)
    }

    /// Prepares a new object and refuses an invalid one.
    pub(crate) fn prepare_create(&self, object: &mut Value) -> Result<Reservation, ApiError> {
        let resource = &self.request.resource;
        self.check_grant(object, None)?;
        rules::prepare_create(resource, object, &clock::text(clock::now()));
        admission::name_requester(self.request, object);
        let reservation = self.allocate(object, None)?;
        self.judge(object, rules::validate_create(resource, object))?;
        rules::finish_create(resource, object);
        Ok(reservation)
    }

    /// Gives services their addresses and ports.
    fn allocate(&self, object: &mut Value, old: Option<&Value>) -> Result<Reservation, ApiError> {
        if !services::are_meant(&self.request.resource) || !self.subresource.is_empty() {
            return Ok(Reservation::default());
        }
        self.request.api.services().allocate(object, old, self.options.dry_run)
    }

    /// The same for an object that replaces another.
    pub(crate) fn prepare_update(
        &self,
        object: &mut Value,
        old: &Value,
    ) -> Result<Reservation, ApiError> {
        let (resource, part) = (&self.request.resource, self.subresource);
        self.check_grant(object, Some(old))?;
        rules::prepare_update(resource, part, object, old, &clock::text(clock::now()));
        if self.request.counts() && part.is_empty() {
            flumen_kinds::count(object, old);
        }
        let reservation = self.allocate(object, Some(old))?;
        self.judge_update(object, old)?;
        flumen_fields::keep_times(old, object);
        Ok(reservation)
    }

    /// Refuses an object that may not replace another. To some rules an empty map is not the same as none, which it
    /// is as soon as it is stored.
    fn judge_update(&self, object: &mut Value, old: &Value) -> Result<(), ApiError> {
        let mut restored = self.request.empty_maps();
        restored.retain(|field| object.get(field).is_none());
        for field in &restored {
            object[*field] = Value::Object(Map::new());
        }
        let resource = &self.request.resource;
        self.judge(object, rules::validate_update(resource, self.subresource, object, old))?;
        if let Value::Object(object) = object {
            object.retain(|field, _| !restored.contains(&field.as_str()));
        }
        Ok(())
    }

    /// Refuses what is invalid; warns of the rest.
    fn judge(&self, object: &Value, verdict: Verdict) -> Result<(), ApiError> {
        if !verdict.errors.is_empty() {
            let (group, kind) = rules::hub_kind(&self.request.resource, object);
            return Err(ApiError::invalid(group, kind, meta::name(object), &verdict.errors));
        }
        verdict.warnings.into_iter().for_each(|warning| self.request.warn(warning));
        Ok(())
    }

    /// Stores the new state, unless it is the present one or ends the life of the object.
    async fn commit(
        &self,
        key: &str,
        mut object: Value,
        live: &Stored,
    ) -> Result<Value, WriteError> {
        let store = self.request.api.store();
        if ends_life(&object, &live.object) {
            if !self.options.dry_run {
                storage::delete(store, key.to_owned(), live.revision).await?;
            }
            return Ok(object);
        }
        rules::check_stored(&self.request.resource, &object)?;
        if live.is_settled && !self.request.has_null_bytes() && object == live.object {
            return Ok(object);
        }
        if self.options.dry_run {
            drop(self.charges(&object, Some(&live.object))?);
            return Ok(object);
        }
        let charges = self.charges(&object, Some(&live.object))?;
        let Request { api, resource, .. } = self.request;
        let mut value = conversion::encode(api, resource, &mut object).await?;
        if self.request.is_unsettled() {
            storage::unsettle(&mut value);
        }
        let expected = Some(live.revision);
        let revision = storage::put_with(store, key.to_owned(), expected, &value, charges).await?;
        meta::set(&mut object, "resourceVersion", revision.to_string());
        Ok(object)
    }
}

/// Whether an update takes the last thing away that keeps a deleted object. Namespaces have finalizers
/// of their own.
fn ends_life(object: &Value, old: &Value) -> bool {
    let is_held = object["kind"] == "Namespace"
        && object["spec"]["finalizers"].as_array().is_some_and(|list| !list.is_empty());
    !is_held
        && meta::finalizers(object).next().is_none()
        && meta::is_deleting(old)
        && meta::number(old, "deletionGracePeriodSeconds").is_none_or(|seconds| seconds == 0)
}
