//! Watches: a line of JSON for each change.

use std::{pin::Pin, time::Duration};

use arcstr::ArcStr;
use bytes::BytesMut;
use flumen_yaml::Node;
use futures_util::{Stream, stream};
use tokio::time::timeout;

use crate::{
    Client, Error, Event, Resource, Status, WatchOptions,
    connect::Body,
    path::{self, Url},
    send::Request,
    transport, tree,
};

/// After this time the server ends a watch, and the caller begins another: load that sits on one of
/// several servers is spread again.
const DURATION: Duration = Duration::from_secs(290);
/// A watch that has not ended by itself is on a connection that is dead.
const SILENCE: Duration = Duration::from_secs(DURATION.as_secs() + 30);
/// Bytes of one event; an object of the largest size that a server holds is a tenth of it.
const MAX_LINE: usize = 32 << 20;

pub(crate) type Events = Pin<Box<dyn Stream<Item = Result<Event, Error>> + Send>>;

impl Client {
    pub(crate) async fn open_watch(
        &self,
        resource: &Resource,
        options: WatchOptions<'_>,
    ) -> Result<Events, Error> {
        let list = options.list;
        let url = Url::new(path::collection(resource, list.namespace.unwrap_or_default())?)
            .with("watch", "true")
            .with("allowWatchBookmarks", "true")
            .with("timeoutSeconds", &DURATION.as_secs().to_string())
            .with_some("labelSelector", list.label_selector)
            .with_some("fieldSelector", list.field_selector)
            .with("resourceVersion", options.resource_version);
        let request = Request::get(url.finish()).streaming();
        let body = self.open(&request).await?;
        let watch =
            Watch { client: self.clone(), request, body, buffer: BytesMut::new(), searched: 0 };
        Ok(Box::pin(stream::unfold(Some(watch), |watch| async move {
            let mut watch = watch?;
            match watch.next().await {
                Ok(Some(event)) => Some((Ok(event), Some(watch))),
                Ok(None) => None,
                // Nothing that comes after an error could be trusted to be complete.
                Err(error) => Some((Err(error), None)),
            }
        })))
    }
}

struct Watch {
    client: Client,
    request: Request,
    body: Body,
    /// What was read and is no whole line yet.
    buffer: BytesMut,
    /// Bytes of the buffer that hold no line end.
    searched: usize,
}

impl Watch {
    async fn next(&mut self) -> Result<Option<Event>, Error> {
        while let Some(line) = self.line().await? {
            if let Some(event) = self.event(&line)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The next line; what follows the last line end is the beginning of an event that was cut off.
    async fn line(&mut self) -> Result<Option<ArcStr>, Error> {
        loop {
            let end = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
            if let Some(end) = end {
                let line = self.buffer.split_to(self.searched + end + 1);
                self.searched = 0;
                return match std::str::from_utf8(&line) {
                    Ok(text) => Ok(Some(ArcStr::from(text))),
                    Err(_) => Err(self.client.unreadable(&self.request, &"it is no UTF-8")),
                };
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > MAX_LINE {
                return Err(self.client.unreadable(&self.request, &"an event is too long"));
            }
            let address = self.client.address();
            match timeout(SILENCE, self.body.chunk()).await {
                Ok(None) => return Ok(None),
                Ok(Some(Ok(data))) => self.buffer.extend_from_slice(&data),
                Ok(Some(Err(error))) => return Err(transport::classify(address, error)),
                Err(_) => {
                    let address = address.to_owned();
                    return Err(Error::TimedOut { address, after: SILENCE });
                }
            }
        }
    }

    /// `None` for types of events that a later server may send.
    fn event(&self, line: &ArcStr) -> Result<Option<Event>, Error> {
        let unreadable =
            |reason: &dyn std::fmt::Display| self.client.unreadable(&self.request, reason);
        let mut event = tree::read(line).map_err(|error| unreadable(&error))?;
        let object = event.as_map_mut().and_then(|event| event.remove("object"));
        let object = object.ok_or_else(|| unreadable(&"an event without an object"))?;
        Ok(Some(match event.get("type").and_then(Node::as_str).unwrap_or_default() {
            "ADDED" | "MODIFIED" => Event::Applied(object),
            "DELETED" => Event::Deleted(object),
            "BOOKMARK" => Event::Bookmark { resource_version: resource_version(&object) },
            "ERROR" => return Err(Error::Refused(Box::new(Status::of(&object, 500)))),
            _ => return Ok(None),
        }))
    }
}

/// The revision of an object or of a list.
pub(crate) fn resource_version(node: &Node) -> String {
    let version = node.at(&["metadata", "resourceVersion"]).and_then(Node::as_str);
    version.unwrap_or_default().to_owned()
}
