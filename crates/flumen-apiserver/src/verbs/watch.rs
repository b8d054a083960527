//! Objects as they change.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use flumen_fields::{FieldError, Path};
use flumen_store::{Entry, Event, ReadError, Revision, Watch as StoreWatch};
use futures_util::{Stream, stream};
use serde_json::{Value, json};
use tokio::time::{Instant, Interval};

use super::{
    Request,
    get::wait_for,
    list::{number, parse_version},
    options::{META_GROUP, is_true},
    selection::Selection,
};
use crate::{
    Answer, Api, ApiError, Payload, Query, Representation, Resource, conversion,
    fanout::{Change, LineKey},
    represent, rules, splice, storage,
};

/// A watch that names no end is closed after some time, so that clients spread over servers.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(40);
/// How often a watch that allows bookmarks gets one.
const BOOKMARK_PERIOD: Duration = Duration::from_mins(1);
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchKind {
    Added,
    Modified,
    Deleted,
    /// Nothing happened; the version of the object is where the watch has come to.
    Bookmark,
    /// The watch has ended; the object is a Status.
    Error,
}

impl WatchKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }
}

/// An event before it is put into a shape.
#[derive(Debug)]
struct Occurrence {
    kind: WatchKind,
    object: Object,
    /// Present for events that other watchers see too.
    change: Option<Arc<Change>>,
}

/// What an event is about.
#[derive(Debug)]
enum Object {
    /// As it is stored, with the version that it is shown with.
    Stored(Bytes, Revision),
    /// A bookmark or a refusal.
    Made(Value),
}

impl Object {
    /// The object as it is shown from, see [`rules::source`].
    fn read(&self, resource: &Resource, shown_as: Representation) -> Result<Value, ApiError> {
        let object = match self {
            Self::Stored(value, revision) => storage::decode_at(value, *revision)?,
            Self::Made(object) => object.clone(),
        };
        Ok(rules::source(resource, shown_as, object))
    }
}

/// The objects of a resource as they change.
struct Watcher {
    api: Api,
    resource: Arc<Resource>,
    selection: Selection,
    /// Events that come before anything of the store, last first.
    initial: Vec<Occurrence>,
    changes: Option<StoreWatch>,
    bookmarks: Option<Interval>,
    /// Nothing is told of what happened up to here.
    after: Revision,
    end: Instant,
}

pub(crate) async fn watch(request: &Request<'_>) -> Result<Answer, ApiError> {
    let watcher = Watcher::open(request).await?;
    let lines = Lines {
        representation: request.call.representation,
        query: request.call.query.clone(),
        resource: Arc::clone(&request.resource),
        is_first: true,
    };
    Ok(Answer::new(200, Payload::Watch(Box::pin(watcher.lines(lines)))))
}

impl Watcher {
    async fn open(request: &Request<'_>) -> Result<Self, ApiError> {
        let query = &request.call.query;
        let options = WatchOptions::of(query)?;
        let selection = Selection::of(query, &request.resource)?.with_name(&request.target().name);
        let mut watcher = Self {
            api: request.api.clone(),
            resource: Arc::clone(&request.resource),
            selection,
            initial: Vec::new(),
            changes: None,
            bookmarks: None,
            after: options.version,
            end: Instant::now() + options.timeout,
        };
        let prefix = storage::prefix(&request.resource, request.namespace());
        let store = request.api.store();
        if options.lists_first
            && let Err(error) = wait_for(store, options.version).await
        {
            // Once a watch is accepted, what goes wrong with it is an event.
            watcher.initial.push(Occurrence::error(error.to_status()));
            return Ok(watcher);
        }
        // What has not come yet is waited for in silence.
        let mut after = options.version.min(store.revision());
        if options.lists_first {
            after = watcher.list_first(&prefix)?;
            if options.ends_initial_events {
                watcher.initial.push(watcher.bookmark(after, true));
            }
            watcher.initial.reverse();
        } else if after == 0 {
            after = store.revision();
        }
        match store.watch(&prefix, after) {
            Ok(changes) => watcher.changes = Some(changes),
            Err(error) => {
                let (requested, oldest) = match error {
                    ReadError::Compacted { requested, compacted } => (requested, compacted),
                    ReadError::Future { requested, current } => (requested, current),
                };
                let status = storage::expired(requested, oldest).to_status();
                watcher.initial.insert(0, Occurrence::error(status));
            }
        }
        if options.allows_bookmarks {
            let first = Instant::now() + BOOKMARK_PERIOD;
            watcher.bookmarks = Some(tokio::time::interval_at(first, BOOKMARK_PERIOD));
        }
        Ok(watcher)
    }

    /// What is there now, as if it had just been added.
    fn list_first(&mut self, prefix: &str) -> Result<Revision, ApiError> {
        let range = flumen_store::Range { prefix, ..flumen_store::Range::default() };
        let store = self.api.store();
        let page = store.range(&range).map_err(|error| storage::read_error(&error))?;
        for (_, entry) in page.entries {
            if self.selection.matches(&self.resource, &entry.value)? {
                let object = Object::Stored(entry.value, entry.revision);
                self.initial.push(Occurrence { kind: WatchKind::Added, object, change: None });
            }
        }
        Ok(page.revision)
    }

    /// The next event; none when the watch is over. One that cannot be converted is the last.
    async fn next(&mut self) -> Option<Occurrence> {
        let mut occurrence = self.next_stored().await?;
        let Object::Stored(value, revision) = &occurrence.object else { return Some(occurrence) };
        if !conversion::is_needed(&self.resource) {
            return Some(occurrence);
        }
        let entry = Entry { value: value.clone(), revision: *revision, created: *revision };
        let mut entries = [entry];
        if let Err(error) = conversion::load_entries(&self.api, &self.resource, &mut entries).await
        {
            self.changes = None;
            self.initial.clear();
            return Some(Occurrence::error(error.to_status()));
        }
        let [entry] = entries;
        occurrence.object = Object::Stored(entry.value, entry.revision);
        // Others may see the same change in another version.
        occurrence.change = None;
        Some(occurrence)
    }

    async fn next_stored(&mut self) -> Option<Occurrence> {
        if let Some(event) = self.initial.pop() {
            if event.kind == WatchKind::Error {
                self.changes = None;
            }
            return Some(event);
        }
        loop {
            let changes = self.changes.as_mut()?;
            let tick = async {
                match &mut self.bookmarks {
                    Some(bookmarks) => bookmarks.tick().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                event = changes.next() => {
                    let Ok(event) = event else {
                        let store = self.api.store();
                        let status = storage::expired(store.revision(), store.compacted());
                        self.changes = None;
                        return Some(Occurrence::error(status.to_status()));
                    };
                    if event.revision <= self.after {
                        continue;
                    }
                    let change = self.api.fanout().of(&event);
                    if let Some(occurrence) = self.occurrence(change) {
                        return Some(occurrence);
                    }
                }
                () = tokio::time::sleep_until(self.end) => {
                    self.changes = None;
                    return None;
                }
                _ = tick => {
                    let progress = changes.progress();
                    if let Some(revision) = progress.filter(|revision| *revision >= self.after) {
                        return Some(self.bookmark(revision, false));
                    }
                }
            }
        }
    }

    /// What a change is for this watch: an object that leaves the selection is gone.
    fn occurrence(&self, change: Arc<Change>) -> Option<Occurrence> {
        let Event { entry: now, previous: before, revision, .. } = &*change.event;
        let matches = |entry: &Entry| {
            self.selection.matches(&self.resource, &entry.value).unwrap_or_default()
        };
        let is_in = now.as_ref().is_some_and(matches);
        let was_in = before.as_ref().is_some_and(matches);
        let (kind, entry) = match (was_in, is_in) {
            (false, true) => (WatchKind::Added, now),
            (true, true) => (WatchKind::Modified, now),
            (true, false) => (WatchKind::Deleted, before),
            (false, false) => return None,
        };
        // What is gone has the version of its end.
        let object = Object::Stored(entry.as_ref()?.value.clone(), *revision);
        Some(Occurrence { kind, object, change: Some(change) })
    }

    fn bookmark(&self, revision: Revision, ends_initial_events: bool) -> Occurrence {
        let mut metadata = json!({ "resourceVersion": revision.to_string() });
        if ends_initial_events {
            metadata["annotations"] = json!({ INITIAL_EVENTS_END: "true" });
        }
        let object = Object::Made(rules::nothing(&self.resource, metadata));
        Occurrence { kind: WatchKind::Bookmark, object, change: None }
    }

    fn lines(self, lines: Lines) -> impl Stream<Item = Bytes> + Send {
        stream::unfold((self, lines), |(mut watcher, mut lines)| async {
            let occurrence = watcher.next().await?;
            let line = match lines.line(&occurrence) {
                Ok(line) => line,
                Err(error) => {
                    watcher.changes = None;
                    plain_line(WatchKind::Error, &error.to_status())
                }
            };
            Some((line, (watcher, lines)))
        })
    }
}

impl Occurrence {
    fn error(status: Value) -> Self {
        Self { kind: WatchKind::Error, object: Object::Made(status), change: None }
    }
}

/// How events become lines.
struct Lines {
    representation: Representation,
    query: Query,
    resource: Arc<Resource>,
    /// Only the first table has the definitions of its columns.
    is_first: bool,
}

impl Lines {
    fn line(&mut self, occurrence: &Occurrence) -> Result<Bytes, ApiError> {
        let kind = occurrence.kind;
        if let (WatchKind::Error, Object::Made(status)) = (kind, &occurrence.object) {
            return Ok(plain_line(kind, status));
        }
        if self.representation == Representation::Object {
            let make = || match &occurrence.object {
                Object::Stored(value, revision)
                    if rules::is_presented_as_stored(&self.resource, value) =>
                {
                    stored_line(kind, value, *revision)
                }
                object => Ok(plain_line(kind, &object.read(&self.resource, self.representation)?)),
            };
            let api_version = self.resource.api_version();
            return match &occurrence.change {
                Some(change) => change.line(LineKey { kind: kind.name(), api_version }, make),
                None => make(),
            };
        }
        let object = occurrence.object.read(&self.resource, self.representation)?;
        let resource = Some(Arc::clone(&self.resource));
        let payload = Payload::Object { object, resource };
        let mut object = represent::payload(payload, self.representation, &self.query)?;
        if let Some(columns) = object.get_mut("columnDefinitions")
            && !std::mem::take(&mut self.is_first)
        {
            *columns = Value::Null;
        }
        Ok(plain_line(kind, &object))
    }
}

fn plain_line(kind: WatchKind, object: &Value) -> Bytes {
    line_with(kind, |line| {
        // A tree of JSON has no way to fail.
        let _ = serde_json::to_writer(line, object);
    })
}

/// The line of an object in the version that is stored, which is not read for it.
fn stored_line(kind: WatchKind, value: &[u8], revision: Revision) -> Result<Bytes, ApiError> {
    let mut is_complete = false;
    let line = line_with(kind, |line| is_complete = splice::object(value, revision, line));
    if is_complete {
        return Ok(line);
    }
    Ok(plain_line(kind, &storage::decode_at(value, revision)?))
}

fn line_with(kind: WatchKind, write: impl FnOnce(&mut Vec<u8>)) -> Bytes {
    let mut line = format!("{{\"type\":\"{}\",\"object\":", kind.name()).into_bytes();
    write(&mut line);
    line.extend_from_slice(b"}\n");
    line.into()
}

struct WatchOptions {
    version: Revision,
    timeout: Duration,
    /// Whether present objects come first.
    lists_first: bool,
    /// Whether a bookmark says that all present objects have come.
    ends_initial_events: bool,
    allows_bookmarks: bool,
}

impl WatchOptions {
    fn of(query: &Query) -> Result<Self, ApiError> {
        let flag = |name: &str| query.get(name).filter(|text| !text.is_empty()).map(is_true);
        let initial = flag("sendInitialEvents");
        let allows_bookmarks = flag("allowWatchBookmarks").unwrap_or(false);
        let version = query.get("resourceVersion").unwrap_or_default();
        // Of no use here, and read nevertheless: lists and watches have the same parameters.
        number(query.get("limit"))?;
        let seconds = number(query.get("timeoutSeconds"))?.unwrap_or_default();
        let is_any = version.is_empty() || version == "0";
        check(query, initial.is_some(), is_any)?;
        Ok(Self {
            version: parse_version(version).map_err(|error| {
                // Here it is a failure of the server.
                let message = error.message().trim_start_matches("invalid resource version: ");
                ApiError::new(500, None, message)
            })?,
            timeout: timeout_of(seconds),
            lists_first: initial.unwrap_or(is_any),
            ends_initial_events: initial == Some(true) && allows_bookmarks,
            allows_bookmarks,
        })
    }
}

/// How long a watch lasts. The real server counts nanoseconds in a number that begins anew when it is full, and
/// ends watches at once whose time is over already.
fn timeout_of(seconds: i64) -> Duration {
    const NANOSECONDS: i64 = 1_000_000_000;
    match seconds.wrapping_mul(NANOSECONDS) {
        0 => DEFAULT_TIMEOUT,
        nanoseconds => Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or_default()),
    }
}

fn check(query: &Query, has_initial: bool, is_any: bool) -> Result<(), ApiError> {
    let at = Path::new("resourceVersionMatch");
    let wanted = query.get("resourceVersionMatch").unwrap_or_default();
    // A watch that begins anywhere stands for one that asks for the present objects.
    let is_implied = is_any && !has_initial && wanted.is_empty();
    let (wanted, has_initial) =
        if is_implied { ("NotOlderThan", true) } else { (wanted, has_initial) };
    let mut errors = Vec::new();
    if has_initial && wanted != "NotOlderThan" {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        errors.push(FieldError::forbidden(&at, why));
    }
    if !wanted.is_empty() {
        if !has_initial {
            let why =
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.push(FieldError::forbidden(&at, why));
        }
        if wanted != "NotOlderThan" {
            errors.push(FieldError::not_supported(&at, wanted, &["NotOlderThan"]));
        }
        if query.get("continue").is_some_and(|token| !token.is_empty()) {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            errors.push(FieldError::forbidden(&at, why));
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(META_GROUP, "ListOptions", "", &errors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_of_seconds_is_too_large() {
        assert_eq!(timeout_of(0), DEFAULT_TIMEOUT);
        assert_eq!(timeout_of(7), Duration::from_secs(7));
        assert_eq!(timeout_of(-1), Duration::ZERO);
        assert_eq!(timeout_of(i64::MAX), Duration::ZERO);
    }
}
