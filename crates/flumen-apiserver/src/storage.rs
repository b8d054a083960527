//! Objects in the store: where they are and how they are written.
//!
//! A key is `group/plural/namespace/name`, without the namespace for what is in none. Keys have the
//! order of lists. A value is compact JSON in the version that the kind is stored in, without
//! `resourceVersion`, which is the revision of the entry.

use flumen_store::{CommitError, Condition, Entry, ReadError, Revision, Store, Transaction};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{ApiError, Reason, Resource, admission::Charges, meta, rules};

/// An object with the revision that it was read at.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// In the version that it is stored in, with its `resourceVersion`.
    pub object: Value,
    pub revision: Revision,
    /// Whether writing the same again is no change.
    pub is_settled: bool,
}

/// Ends the value of an object to which defaults were added after it was prepared. The real server
/// stores such an object without them and adds them whenever it reads it, so that the next write is a
/// change although nobody sees it.
const UNSETTLED: u8 = b' ';

/// Why an object was not written.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// Someone else was faster.
    Conflict,
    Other(ApiError),
}

impl From<ApiError> for WriteError {
    fn from(error: ApiError) -> Self {
        Self::Other(error)
    }
}

/// The beginning of all keys of a resource, or of those in a namespace if that is not empty.
pub(crate) fn prefix(resource: &Resource, namespace: &str) -> String {
    let location = &resource.location;
    let group = if location.group.is_empty() { "core" } else { &location.group };
    let mut prefix = format!("{group}/{}/", location.plural);
    if resource.is_namespaced() && !namespace.is_empty() {
        prefix.push_str(namespace);
        prefix.push('/');
    }
    prefix
}

pub(crate) fn key(resource: &Resource, namespace: &str, name: &str) -> String {
    let mut key = prefix(resource, namespace);
    key.push_str(name);
    key
}

/// Reads a value of the store.
pub(crate) fn decode(entry: &Entry) -> Result<Value, ApiError> {
    decode_at(&entry.value, entry.revision)
}

pub(crate) fn decode_at(value: &[u8], revision: Revision) -> Result<Value, ApiError> {
    let mut object: Value = serde_json::from_slice(value).map_err(unreadable)?;
    meta::set(&mut object, "resourceVersion", revision.to_string());
    Ok(object)
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` passes it")]
pub(crate) fn unreadable(error: serde_json::Error) -> ApiError {
    ApiError::internal(format!("cannot read a stored object: {error}"))
}

pub(crate) fn encode(resource: &Resource, object: &mut Value) -> Result<Vec<u8>, ApiError> {
    let version = meta::remove(object, "resourceVersion");
    let stored = rules::stored_version(resource);
    let shown = stored.map(|stored| std::mem::replace(&mut object["apiVersion"], stored.into()));
    let bytes = serde_json::to_vec(object).map_err(ApiError::internal);
    if let Some(shown) = shown {
        object["apiVersion"] = shown;
    }
    if let Some(version) = version {
        meta::set(object, "resourceVersion", version);
    }
    bytes
}

/// The value of a new object, which gets the defaults that preparation took away or made possible.
pub(crate) fn encode_new(resource: &Resource, object: &mut Value) -> Result<Vec<u8>, ApiError> {
    let prepared = encode(resource, object)?;
    rules::fill_defaults(resource, object);
    let mut value = encode(resource, object)?;
    // Texts are compared because trees would have to be copied for it.
    if value != prepared {
        unsettle(&mut value);
    }
    Ok(value)
}

/// Marks a value so that the next write is stored even if it changes nothing.
pub(crate) fn unsettle(value: &mut Vec<u8>) {
    if value.last() != Some(&UNSETTLED) {
        value.push(UNSETTLED);
    }
}

pub(crate) fn get(store: &Store, key: &str) -> Result<Option<Stored>, ApiError> {
    let Some(entry) = store.get(key) else { return Ok(None) };
    let is_settled = entry.value.last() != Some(&UNSETTLED);
    Ok(Some(Stored { object: decode(&entry)?, revision: entry.revision, is_settled }))
}

/// The parts of an object that a type names; the others are not read.
pub(crate) fn read<T: DeserializeOwned>(store: &Store, key: &str) -> Result<Option<T>, ApiError> {
    let Some(entry) = store.get(key) else { return Ok(None) };
    serde_json::from_slice(&entry.value).map(Some).map_err(unreadable)
}

/// Writes an object if the key is still as it was: at a revision, or absent.
pub(crate) async fn put(
    store: &Store,
    key: String,
    expected: Option<Revision>,
    value: Vec<u8>,
) -> Result<Revision, WriteError> {
    put_with(store, key, expected, &value, Charges::default()).await
}

/// The same, with what that costs.
pub(crate) async fn put_with(
    store: &Store,
    key: String,
    expected: Option<Revision>,
    value: &[u8],
    charges: Charges,
) -> Result<Revision, WriteError> {
    let condition = expected.map_or(Condition::Absent, Condition::At);
    let transaction = Transaction::new().require(key.clone(), condition).put(key, value);
    commit(store, charges.add_to(transaction)).await
}

pub(crate) async fn delete(
    store: &Store,
    key: String,
    expected: Revision,
) -> Result<Revision, WriteError> {
    let condition = Condition::At(expected);
    commit(store, Transaction::new().require(key.clone(), condition).delete(key)).await
}

pub(crate) async fn commit(
    store: &Store,
    transaction: Transaction,
) -> Result<Revision, WriteError> {
    store.commit(transaction).await.map_err(|error| match error {
        CommitError::Conflict { .. } => WriteError::Conflict,
        CommitError::Value { .. } => {
            let message = "etcdserver: request is too large";
            ApiError::new(500, None, message).into()
        }
        other => ApiError::internal(other).into(),
    })
}

/// What a list at a revision that cannot be read answers.
pub(crate) fn read_error(error: &ReadError) -> ApiError {
    match error {
        ReadError::Compacted { requested, compacted } => expired(*requested, *compacted),
        ReadError::Future { requested, current } => too_large(*requested, *current),
    }
}

pub(crate) fn expired(requested: Revision, compacted: Revision) -> ApiError {
    let message = format!("too old resource version: {requested} ({compacted})");
    ApiError::new(410, Some(Reason::Expired), message)
}

pub(crate) fn too_large(requested: Revision, current: Revision) -> ApiError {
    let cause = crate::Cause {
        reason: "ResourceVersionTooLarge".to_owned(),
        message: "Too large resource version".to_owned(),
        field: String::new(),
    };
    let details =
        crate::Details { causes: vec![cause], retry_after_seconds: 1, ..crate::Details::default() };
    let message = format!("Timeout: Too large resource version: {requested}, current: {current}");
    ApiError::new(504, Some(Reason::Timeout), message).with_details(details)
}
