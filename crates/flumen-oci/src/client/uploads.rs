//! Uploads: as few requests as the registry takes.
//!
//! | blob | requests |
//! |---|---|
//! | already elsewhere on the registry | `POST ?mount=` |
//! | small | `POST ?digest=` with the content, where that is known; otherwise `POST`, `PUT` |
//! | any other | `POST`, `PUT` with the content as it comes |
//! | on registries that limit the size of one request | `POST`, `PATCH` for each piece, `PUT` |

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use reqwest::{
    Body, Method, Response, StatusCode, Url,
    header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue},
};

use super::{RemoteRepository, answer::Answer, auth::Scope, redirect, transport::Call};
use crate::{BlobStream, Descriptor, Error, Result};

/// Blobs up to this size are kept in memory, so that they can be sent again.
const MAX_SMALL: u64 = 64 << 10;
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");
/// Answers to uploads have no content that matters.
const MAX_ANSWER: usize = 64 << 10;

impl RemoteRepository {
    pub(crate) async fn put_blob(
        &self,
        descriptor: &Descriptor,
        content: BlobStream,
    ) -> Result<()> {
        let location = self.start_upload(descriptor).await?;
        let url = with_digest(location, descriptor);
        if descriptor.size <= MAX_SMALL {
            let mut call =
                Call::new(Method::PUT, url, self.push_scope(), self.upload_name(descriptor));
            call.headers.insert(CONTENT_TYPE, OCTETS);
            call.body = content.collect().await?;
            let answer = self.transport().fetch(&call, MAX_ANSWER).await?;
            return answer.expect(&[StatusCode::CREATED], &call.what).map(drop);
        }
        self.put_stream(&url, descriptor, content).await
    }

    /// Lets the registry take a blob from another of its repositories. False if it does not.
    pub async fn mount_blob(&self, descriptor: &Descriptor, from: &str) -> Result<bool> {
        let mut url = self.url("blobs/uploads/").await?;
        url.query_pairs_mut()
            .append_pair("mount", &descriptor.digest.to_string())
            .append_pair("from", from);
        let scope = self.push_scope().and_pull(from);
        let call = Call::new(Method::POST, url, scope, self.upload_name(descriptor));
        let answer = self.transport().fetch(&call, MAX_ANSWER).await?;
        match answer.status {
            StatusCode::CREATED => Ok(true),
            StatusCode::ACCEPTED => Ok(false),
            _ => Err(answer.failure(&call.what)),
        }
    }

    /// The address that the registry wants the content at.
    async fn start_upload(&self, descriptor: &Descriptor) -> Result<Url> {
        let url = self.url("blobs/uploads/").await?;
        let call = Call::new(Method::POST, url, self.push_scope(), self.upload_name(descriptor));
        let answer = self.transport().fetch(&call, MAX_ANSWER).await?;
        let answer = answer.expect(&[StatusCode::ACCEPTED], &call.what)?;
        self.location(&answer)
    }

    fn location(&self, answer: &Answer) -> Result<Url> {
        redirect::target(&answer.url, &answer.headers).map_err(|reason| Error::Protocol {
            host: self.registry.host().to_owned(),
            reason: format!("{reason}, as the address of an upload"),
        })
    }

    /// Sends content as it comes, in one request.
    async fn put_stream(
        &self,
        url: &Url,
        descriptor: &Descriptor,
        content: BlobStream,
    ) -> Result<()> {
        let (content, watch) = Watch::new(content, descriptor);
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, OCTETS)]);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(descriptor.size));
        let timeouts = *self.transport().timeouts();
        let scope = self.push_scope();
        let sent = self.transport().send_stream(
            Method::PUT,
            url,
            headers,
            Body::wrap_stream(content),
            &scope,
            std::time::Duration::from_secs(86_400),
        );
        let response = watch.guard(sent, self.registry.host(), &timeouts).await?;
        let deadline = tokio::time::Instant::now() + timeouts.total;
        let what = self.upload_name(descriptor);
        let answer = Answer::read(response, &what, MAX_ANSWER, &timeouts, deadline).await?;
        answer.expect(&[StatusCode::CREATED], &what).map(drop)
    }

    fn push_scope(&self) -> Scope {
        Scope::new(&self.path, "pull,push")
    }

    fn upload_name(&self, descriptor: &Descriptor) -> String {
        format!("the upload to {}/{}@{}", self.registry.host(), self.path, descriptor.digest)
    }
}

fn with_digest(mut location: Url, descriptor: &Descriptor) -> Url {
    location.query_pairs_mut().append_pair("digest", &descriptor.digest.to_string());
    location
}

/// Watches content on its way out.
#[derive(Debug, Default)]
struct Watch {
    sent: AtomicU64,
    /// Why the content ended early, which is the reason for all that follows.
    fault: Mutex<Option<Error>>,
}

impl Watch {
    /// The content with its last piece held back until the whole is known to be right: a registry
    /// never gets all of something else.
    fn new(
        content: BlobStream,
        descriptor: &Descriptor,
    ) -> (impl Stream<Item = Result<Bytes, Broken>> + use<>, Arc<Self>) {
        let watch = Arc::new(Self::default());
        let state = (content, None::<Bytes>, 0_u64, descriptor.clone(), Arc::clone(&watch));
        let pieces = stream::try_unfold(
            state,
            |(mut content, mut held, mut total, expected, watch)| async move {
                loop {
                    let next = content.next().await.transpose();
                    let next = match next {
                        Ok(next) => next,
                        Err(fault) => return watch.stop(fault),
                    };
                    total += next.as_ref().map_or(0, |piece| piece.len() as u64);
                    let is_wrong =
                        if next.is_none() { total != expected.size } else { total > expected.size };
                    if is_wrong {
                        return watch.stop(Error::SizeMismatch {
                            digest: expected.digest,
                            expected: expected.size,
                        });
                    }
                    let is_end = next.is_none();
                    let ready = std::mem::replace(&mut held, next);
                    if let Some(piece) = ready {
                        watch.sent.fetch_add(piece.len() as u64, Ordering::Relaxed);
                        return Ok(Some((piece, (content, held, total, expected, watch))));
                    }
                    if is_end {
                        return Ok(None);
                    }
                }
            },
        );
        (pieces, watch)
    }

    fn stop<T>(&self, fault: Error) -> Result<T, Broken> {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
        Err(Broken)
    }

    /// Waits for an upload as long as it moves.
    async fn guard(
        &self,
        upload: impl Future<Output = Result<Response>>,
        host: &str,
        timeouts: &super::Timeouts,
    ) -> Result<Response> {
        let mut upload = std::pin::pin!(upload);
        let mut before = 0;
        loop {
            let sent = self.sent.load(Ordering::Relaxed);
            match tokio::time::timeout(timeouts.commit, &mut upload).await {
                Ok(answer) => {
                    let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
                    return fault.map_or(answer, Err);
                }
                Err(_) if self.sent.load(Ordering::Relaxed) == sent && sent == before => {
                    return Err(Error::TimedOut {
                        host: host.to_owned(),
                        doing: "while uploading",
                    });
                }
                Err(_) => before = self.sent.load(Ordering::Relaxed),
            }
        }
    }
}

/// Content that ended early; [`Watch`] knows why.
#[derive(Debug, thiserror::Error)]
#[error("the content broke off")]
struct Broken;
