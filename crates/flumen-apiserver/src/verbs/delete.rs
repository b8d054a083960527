//! The end of an object, at once or in steps.

use std::collections::BTreeSet;

use flumen_fields::{FieldError, Path};
use flumen_kinds::{Media, Target};
use flumen_schema::api::Api as Facts;
use serde_json::{Value, json};

use super::{
    Request,
    body::media_of,
    options::{META_GROUP, check_dry_run, is_true},
};
use crate::{
    Answer, ApiError, Query,
    admission::{self, Attempt, Operation},
    clock, conversion, definitions, meta,
    policy::{self, Dependents},
    rules, services,
    storage::{self, Stored, WriteError},
};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub grace_seconds: Option<i64>,
    pub uid: Option<String>,
    pub resource_version: Option<String>,
    pub orphan_dependents: Option<bool>,
    pub propagation: Option<String>,
    pub dry_run: bool,
}

/// What is left of a deleted object.
#[derive(Debug)]
pub(crate) struct Deleted {
    /// In the version that is stored.
    pub object: Value,
    /// Whether it is gone.
    pub is_gone: bool,
    /// Whether the object is shown in spite of what its kind does.
    pub is_shown: bool,
}

pub(crate) async fn delete(request: &Request<'_>) -> Result<Answer, ApiError> {
    let options = DeleteOptions::of(request)?;
    warn_of_orphans(request, &options);
    let deleted = remove(request, &request.target().name, &options).await?;
    let code = if !deleted.is_gone && options.orphan_dependents == Some(false) { 202 } else { 200 };
    if deleted.is_gone && deleted.is_shown {
        return Ok(request.answer_as_is(code, deleted.object));
    }
    if deleted.is_shown {
        // Nobody hides anything of what is only marked.
        return Ok(request.answer_unhidden(code, deleted.object));
    }
    if policy::shows_deleted(&request.resource) {
        return Ok(request.answer(code, deleted.object));
    }
    let mut details = json!({
        "name": meta::name(&deleted.object),
        "kind": request.resource.plural,
        "uid": meta::uid(&deleted.object),
    });
    if !request.resource.group.is_empty() {
        details["group"] = request.resource.group.clone().into();
    }
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    });
    Ok(request.answer_as_is(code, status))
}

/// Deletes an object or begins to.
pub(crate) async fn remove(
    request: &Request<'_>,
    name: &str,
    options: &DeleteOptions,
) -> Result<Deleted, ApiError> {
    let key = request.key(name);
    loop {
        let live = storage::get(request.api.store(), &key)?;
        let mut live = live.ok_or_else(|| request.not_found(name))?;
        request.load(std::slice::from_mut(&mut live.object)).await?;
        let live = rules::live(&request.resource, live);
        match remove_once(request, &key, &live, options).await {
            Err(WriteError::Conflict) => {}
            Err(WriteError::Other(error)) => return Err(error),
            Ok(deleted) => return Ok(deleted),
        }
    }
}

async fn remove_once(
    request: &Request<'_>,
    key: &str,
    live: &Stored,
    options: &DeleteOptions,
) -> Result<Deleted, WriteError> {
    let mut object = live.object.clone();
    check_preconditions(request, &object, options)?;
    let attempt = Attempt {
        request,
        operation: Operation::Delete,
        old: Some(&live.object),
        dry_run: options.dry_run,
    };
    admission::mutate(&attempt, &mut object).await?;
    admission::validate(&attempt, &object).await?;
    let store = request.api.store();
    let is_held_namespace = is_namespace(request)
        && object["spec"]["finalizers"].as_array().is_some_and(|list| !list.is_empty());
    if is_held_namespace || is_namespace(request) && !meta::is_deleting(&object) {
        if !meta::is_deleting(&object) {
            meta::set(&mut object, "deletionTimestamp", clock::text(clock::now()));
            object["status"]["phase"] = "Terminating".into();
            let mut finalizers = finalizers_of(request, &object, options);
            if !meta::finalizers(&object).eq(finalizers.iter().map(String::as_str)) {
                // What changes is a set.
                let mut seen = BTreeSet::new();
                finalizers.retain(|name| seen.insert(name.clone()));
                meta::set_finalizers(&mut object, finalizers);
            }
            if !options.dry_run {
                let value = storage::encode(&request.resource, &mut object)?;
                let revision =
                    storage::put(store, key.to_owned(), Some(live.revision), value).await?;
                meta::set(&mut object, "resourceVersion", revision.to_string());
            }
        }
        return Ok(Deleted { object, is_gone: false, is_shown: true });
    }
    if definitions::are_meant(&request.resource) && !meta::is_deleting(&object) {
        definitions::mark(&mut object);
        if !options.dry_run {
            let value = storage::encode(&request.resource, &mut object)?;
            let revision = storage::put(store, key.to_owned(), Some(live.revision), value).await?;
            meta::set(&mut object, "resourceVersion", revision.to_string());
            definitions::clean_up(request.api, meta::name(&object));
        }
        return Ok(Deleted { object, is_gone: false, is_shown: true });
    }
    let grace = begin_grace(request, &mut object, options);
    if grace == Grace::Pending {
        return Ok(Deleted { object, is_gone: false, is_shown: false });
    }
    let finalizers = finalizers_of(request, &object, options);
    let changes_finalizers = !meta::finalizers(&object).eq(finalizers.iter().map(String::as_str));
    if changes_finalizers {
        meta::set_finalizers(&mut object, finalizers);
    }
    let is_held = meta::finalizers(&object).next().is_some();
    let stays = is_held || matches!(grace, Grace::Begun(seconds) if seconds > 0);
    let mut revision = live.revision;
    if stays || matches!(grace, Grace::Begun(_)) {
        if is_held && !matches!(grace, Grace::Begun(_)) {
            mark(&mut object);
        }
        if (object != live.object || !live.is_settled) && !options.dry_run {
            let value = conversion::encode(request.api, &request.resource, &mut object).await?;
            revision = storage::put(store, key.to_owned(), Some(revision), value).await?;
            meta::set(&mut object, "resourceVersion", revision.to_string());
        }
        if stays {
            return Ok(Deleted { object, is_gone: false, is_shown: true });
        }
    } else if options.dry_run && meta::finalizers(&live.object).next().is_some() {
        // The real server tries the update that would take the finalizers away, and shows what that did not fill.
        let object = rules::nothing(&request.resource, json!({}));
        return Ok(Deleted { object, is_gone: true, is_shown: true });
    } else {
        // Nobody has stored what the options make of the finalizers.
        let finalizers = meta::finalizers(&live.object).map(str::to_owned).collect();
        meta::set_finalizers(&mut object, finalizers);
    }
    if !options.dry_run {
        let revision = storage::delete(store, key.to_owned(), revision).await?;
        meta::set(&mut object, "resourceVersion", revision.to_string());
        if services::are_meant(&request.resource) {
            request.api.services().release(&object);
        }
    }
    Ok(Deleted { object, is_gone: true, is_shown: false })
}

/// Namespaces stay until their own finalizers are gone.
fn is_namespace(request: &Request<'_>) -> bool {
    let resource = &request.resource;
    (&*resource.group, &*resource.plural) == ("", "namespaces")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grace {
    /// The kind knows no grace, or there is none.
    None,
    /// Time to end was given, or shortened to this.
    Begun(i64),
    /// It has been given before, and this request asks for no less.
    Pending,
}

/// Gives an object time to end, if its kind takes any.
fn begin_grace(request: &Request<'_>, object: &mut Value, options: &DeleteOptions) -> Grace {
    if !policy::is_graceful(&request.resource) {
        return Grace::None;
    }
    let asked = options.grace_seconds.map(|seconds| if seconds < 0 { 1 } else { seconds });
    let now = clock::now();
    if meta::is_deleting(object) {
        let Some(given) = meta::number(object, "deletionGracePeriodSeconds") else {
            return Grace::None;
        };
        if given == 0 {
            return Grace::None;
        }
        let Some(asked) = asked.filter(|asked| *asked < given) else { return Grace::Pending };
        let begun = meta::text(object, "deletionTimestamp").parse::<jiff::Timestamp>().ok();
        let seconds = |seconds: i64| jiff::SignedDuration::from_secs(seconds);
        let end = begun.and_then(|begun| {
            begun.checked_sub(seconds(given)).and_then(|at| at.checked_add(seconds(asked))).ok()
        });
        let (end, asked) = match end {
            Some(end) if end >= now => (end, asked),
            _ => (now, i64::from(asked != 0)),
        };
        meta::set(object, "deletionTimestamp", clock::text(end));
        meta::set(object, "deletionGracePeriodSeconds", asked);
        return Grace::Begun(asked);
    }
    let spec = &object["spec"];
    let mut seconds =
        asked.or_else(|| spec["terminationGracePeriodSeconds"].as_i64()).unwrap_or(30);
    let is_scheduled = spec["nodeName"].as_str().is_some_and(|node| !node.is_empty());
    let has_ended = matches!(object["status"]["phase"].as_str(), Some("Failed" | "Succeeded"));
    if !is_scheduled || has_ended {
        seconds = 0;
    }
    let end = now.checked_add(jiff::SignedDuration::from_secs(seconds)).unwrap_or(now);
    meta::set(object, "deletionTimestamp", clock::text(end));
    meta::set(object, "deletionGracePeriodSeconds", seconds);
    count_generation(object);
    Grace::Begun(seconds)
}

/// Marks an object as deleted that others must let go first.
fn mark(object: &mut Value) {
    let now = clock::text(clock::now());
    if !meta::is_deleting(object) {
        count_generation(object);
    }
    if !meta::is_deleting(object) || meta::text(object, "deletionTimestamp") > &*now {
        meta::set(object, "deletionTimestamp", now);
    }
    meta::set(object, "deletionGracePeriodSeconds", 0);
}

fn count_generation(object: &mut Value) {
    if let Some(generation) = meta::number(object, "generation").filter(|number| *number > 0) {
        meta::set(object, "generation", generation + 1);
    }
}

/// The finalizers of an object, with those that tell the garbage collector about its dependents.
fn finalizers_of(request: &Request<'_>, object: &Value, options: &DeleteOptions) -> Vec<String> {
    let default = policy::dependents(&request.resource);
    let has = |wanted: &str| meta::finalizers(object).any(|finalizer| finalizer == wanted);
    let propagation = options.propagation.as_deref();
    let (orphans, waits) = if default == Dependents::Unsupported {
        (false, false)
    } else if let Some(orphans) = options.orphan_dependents {
        (orphans, false)
    } else if let Some(propagation) = propagation {
        (propagation == "Orphan", propagation == "Foreground")
    } else if has(ORPHAN) || has(FOREGROUND) {
        let first = meta::finalizers(object).find(|f| *f == ORPHAN || *f == FOREGROUND);
        (first == Some(ORPHAN), first == Some(FOREGROUND))
    } else {
        (default == Dependents::Orphan, false)
    };
    let others = meta::finalizers(object).filter(|f| *f != ORPHAN && *f != FOREGROUND);
    let mut finalizers: Vec<String> = others.map(str::to_owned).collect();
    finalizers.extend(orphans.then(|| ORPHAN.to_owned()));
    finalizers.extend(waits.then(|| FOREGROUND.to_owned()));
    finalizers
}

pub(super) fn check_preconditions(
    request: &Request<'_>,
    object: &Value,
    options: &DeleteOptions,
) -> Result<(), ApiError> {
    let conflict = |what: &str, wanted: &str, found: &str, why: &str| {
        let resource = &request.resource;
        if is_namespace(request) || definitions::are_meant(resource) {
            let why = format!(
                "Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
            );
            return request.conflict(meta::name(object), &why);
        }
        let why = format!(
            "the {what} in the precondition ({wanted}) does not match the {what} in record ({found}). \
             The object might have been {why}"
        );
        ApiError::conflict(&resource.group, &resource.kind, meta::name(object), &why)
    };
    if let Some(wanted) = options.uid.as_deref().filter(|wanted| *wanted != meta::uid(object)) {
        return Err(conflict("UID", wanted, meta::uid(object), "deleted and then recreated"));
    }
    let version = meta::resource_version(object);
    if let Some(wanted) = options.resource_version.as_deref().filter(|wanted| *wanted != version) {
        return Err(conflict("ResourceVersion", wanted, version, "modified"));
    }
    Ok(())
}

/// Jobs leave their pods behind unless someone says otherwise.
pub(super) fn warn_of_orphans(request: &Request<'_>, options: &DeleteOptions) {
    let resource = &request.resource;
    if (&*resource.group, &*resource.plural) == ("batch", "jobs")
        && options.propagation.is_none()
        && options.orphan_dependents.is_none()
    {
        request.warn(
            "child pods are preserved by default when jobs are deleted; set \
             propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress \
             this warning",
        );
    }
}

impl DeleteOptions {
    /// The options in the body, or else in the parameters.
    pub(crate) fn of(request: &Request<'_>) -> Result<Self, ApiError> {
        let call = request.call;
        let mut errors = Vec::new();
        let options = if call.body.is_empty() {
            Self::from_query(&call.query, &mut errors)?
        } else {
            Self::from_body(request, &mut errors)?
        };
        options.checked(errors)
    }

    /// Refuses options that are wrong in themselves, or were read with errors.
    fn checked(self, mut errors: Vec<FieldError>) -> Result<Self, ApiError> {
        let at = Path::new("propagationPolicy");
        if let Some(propagation) = &self.propagation {
            if self.orphan_dependents.is_some() {
                let why = "orphanDependents and deletionPropagation cannot be both set";
                errors.insert(0, FieldError::invalid(&at, propagation.as_str(), why));
            }
            if !matches!(&**propagation, "Foreground" | "Background" | "Orphan") {
                let values = ["Foreground", "Background", "Orphan", "nil"];
                errors.insert(0, FieldError::not_supported(&at, propagation.as_str(), &values));
            }
        }
        if errors.is_empty() {
            return Ok(self);
        }
        Err(ApiError::invalid(META_GROUP, "DeleteOptions", "", &errors))
    }

    fn from_query(query: &Query, errors: &mut Vec<FieldError>) -> Result<Self, ApiError> {
        let text = |name: &str| query.get(name).filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(Self {
            grace_seconds: super::list::number(query.get("gracePeriodSeconds"))?,
            orphan_dependents: query.get("orphanDependents").map(is_true),
            propagation: text("propagationPolicy"),
            dry_run: check_dry_run(query.all("dryRun"), errors),
            ..Self::default()
        })
    }

    fn from_body(request: &Request<'_>, errors: &mut Vec<FieldError>) -> Result<Self, ApiError> {
        let body = read_options(request)?;
        Ok(Self::from_options(&body, errors))
    }

    /// The options within another body.
    pub(crate) fn from_value(options: &Value) -> Result<Self, ApiError> {
        let mut errors = Vec::new();
        let options = Self::from_options(options, &mut errors);
        options.checked(errors)
    }

    fn from_options(body: &Value, errors: &mut Vec<FieldError>) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let dry_run = body["dryRun"].as_array().map(Vec::as_slice).unwrap_or_default();
        Self {
            grace_seconds: body["gracePeriodSeconds"].as_i64(),
            uid: text(&body["preconditions"]["uid"]),
            resource_version: text(&body["preconditions"]["resourceVersion"]),
            orphan_dependents: body["orphanDependents"].as_bool(),
            propagation: text(&body["propagationPolicy"]),
            dry_run: check_dry_run(dry_run.iter().filter_map(Value::as_str), errors),
        }
    }
}

/// Options of any version of any group are accepted.
fn read_options(request: &Request<'_>) -> Result<Value, ApiError> {
    let body = &request.call.body;
    let media = media_of(request.call.media)?;
    let message = Facts::get().message("", "v1", "DeleteOptions");
    let message = message.ok_or_else(|| ApiError::internal("there is no type of options"))?;
    let refused = |why: String| ApiError::bad_request(why);
    let sent = match media {
        Media::Protobuf => {
            let decoded = flumen_kinds::decode(body, media, &Target::from(message));
            return decoded.map(|decoded| decoded.object).map_err(|e| refused(e.to_string()));
        }
        Media::Json => serde_json::from_slice(body).map_err(|error| {
            let why = if error.is_eof() {
                "unexpected end of JSON input".to_owned()
            } else {
                error.to_string()
            };
            refused(format!("couldn't get version/kind; json parse error: {why}"))
        })?,
        Media::Yaml => {
            let document = flumen_kinds::Document::read(body).map_err(refused)?;
            document.into_value().map_err(refused)?
        }
    };
    let text = |field: &str| sent.get(field).and_then(Value::as_str).unwrap_or_default();
    let (kind, version) = (text("kind"), text("apiVersion"));
    if !kind.is_empty() && kind != "DeleteOptions" {
        return Err(refused(format!(
            "no kind {kind:?} is registered for version {version:?} in scheme \
             \"pkg/runtime/scheme.go:111\""
        )));
    }
    flumen_kinds::decode_value(&sent, message.object).map(|read| read.object).map_err(refused)
}
