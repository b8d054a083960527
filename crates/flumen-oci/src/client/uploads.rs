//! Uploads: as few requests as the registry takes.
//!
//! | blob | requests |
//! |---|---|
//! | already elsewhere on the registry | `POST ?mount=` |
//! | small | `POST ?digest=` with the content, where the registry knows that; otherwise `POST`, `PUT` |
//! | any other | `POST`, `PUT` with the content as it comes |
//! | any other, on registries that limit the size of a request | `POST`, `PATCH` for each piece, `PUT` |

mod memory;
mod outgoing;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use reqwest::{
    Body, Method, StatusCode, Url,
    header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use tokio::time::Instant;

pub(super) use self::memory::UploadMemory;
use self::outgoing::Outgoing;
use super::{RemoteRepository, answer::Answer, auth::Scope, redirect, transport::Call};
use crate::{BlobStream, Descriptor, Error, Result};

/// Blobs up to this size are kept in memory, so that they can be sent again.
pub(crate) const MAX_SMALL: u64 = 64 << 10;
/// The size of one piece where the registry does not take everything at once.
const PIECE: usize = 4 << 20;
/// Registries may ask for larger pieces than ours, up to this.
const MAX_PIECE: usize = 64 << 20;
const MIN_PIECE_HEADER: &str = "oci-chunk-min-length";
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");
/// Answers to uploads have no content that matters.
const MAX_ANSWER: usize = 64 << 10;

/// A place for content that the registry has given out.
#[derive(Debug)]
struct Session {
    location: Url,
    min_piece: usize,
}

impl RemoteRepository {
    pub(crate) async fn put_blob(
        &self,
        descriptor: &Descriptor,
        content: BlobStream,
    ) -> Result<()> {
        if descriptor.size <= MAX_SMALL {
            return self.put_small(descriptor, content.collect().await?).await;
        }
        let call = self.upload_call(descriptor).await?;
        let session = match self.started(descriptor) {
            Some(session) => session,
            None => self.start(&call).await?,
        };
        if self.memory().wants_pieces() {
            self.put_pieces(session, descriptor, content).await
        } else {
            self.put_stream(&session, descriptor, content).await
        }
    }

    /// Lets the registry take a blob from another of its repositories. False if it does not.
    pub async fn mount_blob(&self, descriptor: &Descriptor, from: &str) -> Result<bool> {
        let mut call = self.upload_call(descriptor).await?;
        call.scope = self.push_scope().and_pull(from);
        call.url
            .query_pairs_mut()
            .append_pair("mount", &descriptor.digest.to_string())
            .append_pair("from", from);
        let answer = self.transport().fetch(&call, MAX_ANSWER).await?;
        if answer.status == StatusCode::CREATED {
            return Ok(true);
        }
        let session = self.session(answer, &call)?;
        self.memory().keep_started(&self.path, &descriptor.digest, session.location);
        Ok(false)
    }

    /// Tries to do everything with one request, in a way that costs nothing where that is not known.
    async fn put_small(&self, descriptor: &Descriptor, content: Bytes) -> Result<()> {
        let memory = self.memory();
        let mut call = self.upload_call(descriptor).await?;
        let session = if let Some(session) = self.started(descriptor) {
            session
        } else if memory.takes_whole_posts() {
            add_digest(&mut call.url, descriptor);
            call.headers.insert(CONTENT_TYPE, OCTETS);
            call.body = content.clone();
            let answer = self.transport().fetch(&call, MAX_ANSWER).await?;
            match answer.status {
                StatusCode::CREATED => return Ok(()),
                StatusCode::ACCEPTED => {
                    memory.takes_no_whole_posts();
                    self.session(answer, &call)?
                }
                StatusCode::BAD_REQUEST
                | StatusCode::METHOD_NOT_ALLOWED
                | StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                    memory.takes_no_whole_posts();
                    self.start(&self.upload_call(descriptor).await?).await?
                }
                _ => return Err(answer.failure(&call.what)),
            }
        } else {
            self.start(&call).await?
        };
        self.finish(session.location, descriptor, content).await
    }

    /// Sends content as it comes, in one request.
    async fn put_stream(
        &self,
        session: &Session,
        descriptor: &Descriptor,
        content: BlobStream,
    ) -> Result<()> {
        let mut url = session.location.clone();
        add_digest(&mut url, descriptor);
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, OCTETS)]);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(descriptor.size));
        let (content, outgoing) = Outgoing::new(content, descriptor);
        let body = Body::wrap_stream(content);
        let (scope, timeouts) = (self.push_scope(), *self.transport().timeouts());
        let sent = self.transport().send_stream(Method::PUT, &url, headers, body, &scope);
        let response = outgoing.watch(sent, self.registry.host(), &timeouts).await?;

        let what = self.upload_name(descriptor);
        let deadline = Instant::now() + timeouts.total;
        let answer = Answer::read(response, &what, MAX_ANSWER, &timeouts, deadline).await?;
        if answer.status == StatusCode::PAYLOAD_TOO_LARGE {
            self.memory().want_pieces();
            return Err(Error::PiecesWanted { host: self.registry.host().to_owned() });
        }
        answer.expect(&[StatusCode::CREATED], &what).map(drop)
    }

    /// Sends content in pieces, each with a request of its own.
    async fn put_pieces(
        &self,
        mut session: Session,
        descriptor: &Descriptor,
        mut content: BlobStream,
    ) -> Result<()> {
        let size = PIECE.max(session.min_piece);
        let mut piece = BytesMut::new();
        let mut sent = 0;
        while let Some(next) = content.next().await.transpose()? {
            piece.extend_from_slice(&next);
            while piece.len() >= size {
                let full = piece.split_to(size).freeze();
                let length = full.len() as u64;
                session = self.put_piece(session, descriptor, full, sent).await?;
                sent += length;
            }
        }
        if sent + piece.len() as u64 != descriptor.size {
            let digest = descriptor.digest.clone();
            return Err(Error::SizeMismatch { digest, expected: descriptor.size });
        }
        if !piece.is_empty() {
            session = self.put_piece(session, descriptor, piece.freeze(), sent).await?;
        }
        self.finish(session.location, descriptor, Bytes::new()).await
    }

    async fn put_piece(
        &self,
        session: Session,
        descriptor: &Descriptor,
        piece: Bytes,
        start: u64,
    ) -> Result<Session> {
        let scope = self.push_scope();
        let what = self.upload_name(descriptor);
        let mut call = Call::new(Method::PATCH, session.location, scope, what);
        let end = start + (piece.len() as u64).saturating_sub(1);
        let range = HeaderValue::from_str(&format!("{start}-{end}"));
        call.headers.extend(range.map(|range| (CONTENT_RANGE, range)));
        call.headers.insert(CONTENT_TYPE, OCTETS);
        call.body = piece;
        self.start(&call).await
    }

    /// Gives the content its name.
    async fn finish(&self, mut url: Url, descriptor: &Descriptor, content: Bytes) -> Result<()> {
        add_digest(&mut url, descriptor);
        let mut call = Call::new(Method::PUT, url, self.push_scope(), self.upload_name(descriptor));
        call.headers.insert(CONTENT_TYPE, OCTETS);
        call.body = content;
        call.is_commit = true;
        let answer = self.transport().fetch(&call, MAX_ANSWER).await?;
        answer.expect(&[StatusCode::CREATED], &call.what).map(drop)
    }

    /// What a mount that did not work has left behind.
    fn started(&self, descriptor: &Descriptor) -> Option<Session> {
        let location = self.memory().take_started(&self.path, &descriptor.digest)?;
        Some(Session { location, min_piece: 0 })
    }

    async fn start(&self, call: &Call) -> Result<Session> {
        let answer = self.transport().fetch(call, MAX_ANSWER).await?;
        self.session(answer, call)
    }

    /// Where the content, or what follows of it, has to go.
    fn session(&self, answer: Answer, call: &Call) -> Result<Session> {
        let answer = answer.expect(&[StatusCode::ACCEPTED], &call.what)?;
        let min_piece = answer.header(MIN_PIECE_HEADER).and_then(|text| text.parse().ok());
        let location = redirect::target(&answer.url, &answer.headers);
        Ok(Session {
            location: location.map_err(|reason| Error::Protocol {
                host: self.registry.host().to_owned(),
                reason: format!("{reason} as the address of an upload"),
            })?,
            min_piece: min_piece.unwrap_or(0).min(MAX_PIECE),
        })
    }

    async fn upload_call(&self, descriptor: &Descriptor) -> Result<Call> {
        let url = self.url("blobs/uploads/").await?;
        Ok(Call::new(Method::POST, url, self.push_scope(), self.upload_name(descriptor)))
    }

    fn push_scope(&self) -> Scope {
        Scope::new(&self.path, "pull,push")
    }

    fn upload_name(&self, descriptor: &Descriptor) -> String {
        format!("the upload of {}/{}@{}", self.registry.host(), self.path, descriptor.digest)
    }

    fn memory(&self) -> &UploadMemory {
        &self.transport().uploads
    }
}

fn add_digest(url: &mut Url, descriptor: &Descriptor) {
    url.query_pairs_mut().append_pair("digest", &descriptor.digest.to_string());
}
