//! Many objects.

use std::sync::Arc;

use flumen_fields::{FieldError, Path};
use flumen_store::{Entry, Range, ReadError, Revision};
use serde_json::{Map, Value};

use super::{
    Request, continuation::Continuation, get::wait_for, options::META_GROUP, selection::Selection,
};
use crate::{Answer, ApiError, Payload, Reason, conversion, rules, storage};

/// Objects of a list as they are stored, in the order of their keys.
#[derive(Debug)]
pub(crate) struct Listed {
    pub items: Vec<Entry>,
    pub revision: Revision,
    /// Where the next page begins, and how many objects are left if that is known.
    pub rest: Option<(String, Option<usize>)>,
}

pub(crate) async fn list(request: &Request<'_>) -> Result<Answer, ApiError> {
    let listed = select(request).await?;
    let mut metadata = Map::new();
    metadata.insert("resourceVersion".to_owned(), listed.revision.to_string().into());
    if let Some((token, remaining)) = listed.rest {
        metadata.insert("continue".to_owned(), token.into());
        if let Some(remaining) = remaining {
            metadata.insert("remainingItemCount".to_owned(), remaining.into());
        }
    }
    let resource = &request.resource;
    if rules::patch_type(resource).is_none() && !metadata.contains_key("continue") {
        // Lists of custom resources say that they are complete.
        metadata.insert("continue".to_owned(), "".into());
    }
    let payload = Payload::List {
        resource: Arc::clone(resource),
        metadata: Value::Object(metadata),
        items: listed.items,
    };
    Ok(Answer::new(200, payload))
}

/// The objects that the parameters of a request select.
pub(crate) async fn select(request: &Request<'_>) -> Result<Listed, ApiError> {
    let query = &request.call.query;
    let limit = number(query.get("limit"))?;
    number(query.get("timeoutSeconds"))?;
    let version = query.get("resourceVersion").unwrap_or_default();
    let token = query.get("continue").unwrap_or_default();
    check_match(request, version, token)?;
    let selection = Selection::of(query, &request.resource)?.with_name(&request.target().name);
    let exact = query.get("resourceVersionMatch") == Some("Exact");
    let continuation = if token.is_empty() { None } else { Some(Continuation::decode(token)?) };
    if continuation.is_some() && !version.is_empty() && version != "0" {
        let why = "specifying resource version is not allowed when using continue";
        return Err(ApiError::bad_request(why));
    }
    let wanted = parse_version(version)?;
    let revision = match &continuation {
        Some(continuation) => continuation.revision(),
        None if exact => Some(wanted),
        None => {
            wait_for(request.api.store(), wanted).await?;
            None
        }
    };
    // Without a token a list of whatever age comes from memory, which knows no pages.
    let limit = if version == "0" && continuation.is_none() { None } else { limit };
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
    // One object has no further pages, if it is known where it is.
    let is_placed = !request.resource.is_namespaced() || !request.namespace().is_empty();
    let is_single = selection.is_single() && is_placed && continuation.is_none();
    let limit = limit.filter(|_| !is_single);
    let prefix = storage::prefix(&request.resource, request.namespace());
    let after = continuation.as_ref().map(|token| format!("{prefix}{}", token.after()));
    let page = Page { prefix: &prefix, after: after.as_deref(), revision, limit };
    let listed = page.read(request, &selection);
    let mut listed = listed.map_err(|error| match (&error, &continuation) {
        (ReadFailure::Read(ReadError::Compacted { .. }), Some(token)) => expired_token(token),
        (ReadFailure::Read(error), _) => storage::read_error(error),
        (ReadFailure::Other(error), _) => error.clone(),
    })?;
    conversion::load_entries(request.api, &request.resource, &mut listed.items).await?;
    Ok(listed)
}

struct Page<'a> {
    prefix: &'a str,
    after: Option<&'a str>,
    revision: Option<Revision>,
    limit: Option<usize>,
}

enum ReadFailure {
    Read(ReadError),
    Other(ApiError),
}

impl From<ReadError> for ReadFailure {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<ApiError> for ReadFailure {
    fn from(error: ApiError) -> Self {
        Self::Other(error)
    }
}

impl Page<'_> {
    /// Reads in steps until enough objects are found, so that a small page of a large list is cheap.
    fn read(&self, request: &Request<'_>, selection: &Selection) -> Result<Listed, ReadFailure> {
        let store = request.api.store();
        let mut items = Vec::new();
        let mut revision = self.revision;
        let mut after = self.after.map(str::to_owned);
        loop {
            let range =
                Range { prefix: self.prefix, after: after.as_deref(), revision, limit: self.limit };
            let read = store.range(&range)?;
            revision = Some(read.revision);
            for (place, (key, entry)) in read.entries.iter().enumerate() {
                if selection.matches(&request.resource, &entry.value)? {
                    items.push(entry.clone());
                }
                let is_last = place + 1 == read.entries.len() && !read.more;
                if self.limit.is_some_and(|limit| items.len() >= limit) && !is_last {
                    let place = key.get(self.prefix.len()..).unwrap_or_default();
                    let token = Continuation::new(read.revision, place).encode();
                    let rest = Range { after: Some(key), revision, limit: None, ..range };
                    let remaining =
                        if selection.is_everything() { Some(store.count(&rest)?) } else { None };
                    return Ok(Listed {
                        items,
                        revision: read.revision,
                        rest: Some((token, remaining)),
                    });
                }
            }
            match read.entries.last() {
                Some((key, _)) if read.more => after = Some(key.to_string()),
                _ => return Ok(Listed { items, revision: read.revision, rest: None }),
            }
        }
    }
}

/// The refusal brings a token that goes on with the present state.
fn expired_token(token: &Continuation) -> ApiError {
    let message = "The provided continue parameter is too old to display a consistent list result. You can \
                   start a new list without the continue parameter, or use the continue token in this \
                   response to retrieve the remainder of the results. Continuing with the provided token \
                   results in an inconsistent list - objects that were created, modified, or deleted between \
                   the time the first chunk was returned and now may show up in the list.";
    ApiError::new(410, Some(Reason::Expired), message)
        .with_continue(Continuation::inconsistent(token.after()).encode())
}

fn check_match(request: &Request<'_>, version: &str, token: &str) -> Result<(), ApiError> {
    let query = &request.call.query;
    let mut errors = Vec::new();
    let wanted = query.get("resourceVersionMatch").unwrap_or_default();
    let at = Path::new("resourceVersionMatch");
    if !wanted.is_empty() {
        let mut forbid = |why: &str| errors.push(FieldError::forbidden(&at, why));
        if version.is_empty() {
            forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if !token.is_empty() {
            forbid("resourceVersionMatch is forbidden when continue is provided");
        }
        if wanted != "Exact" && wanted != "NotOlderThan" {
            errors.push(FieldError::not_supported(&at, wanted, &["Exact", "NotOlderThan", ""]));
        }
        if wanted == "Exact" && version == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.push(FieldError::forbidden(&at, why));
        }
    }
    if query.get("sendInitialEvents").is_some_and(|flag| !flag.is_empty()) {
        let why = "sendInitialEvents is forbidden for list";
        errors.push(FieldError::forbidden(&Path::new("sendInitialEvents"), why));
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(META_GROUP, "ListOptions", "", &errors))
}

/// A whole number of a parameter.
pub(crate) fn number(text: Option<&str>) -> Result<Option<i64>, ApiError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let parsed = text.parse();
    parsed.map(Some).map_err(|_| {
        ApiError::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"))
    })
}

/// The number of a version; nothing is zero.
pub(crate) fn parse_version(text: &str) -> Result<Revision, ApiError> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| {
        let why = format!("strconv.ParseUint: parsing {text:?}: invalid syntax");
        let message =
            format!("invalid resource version: resourceVersion: Invalid value: {text:?}: {why}");
        ApiError::bad_request(message)
    })
}
