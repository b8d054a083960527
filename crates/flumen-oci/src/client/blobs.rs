//! Blobs: whether they are there, and their content.

use bytes::Bytes;
use futures_util::{Stream, stream};
use reqwest::{
    Method, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, HeaderValue, RANGE},
};

use super::{RemoteRepository, answer::Body, auth::Scope, transport::Call};
use crate::{BlobStream, Descriptor, Error, Result};

/// How often a download goes on after its connection broke.
const MAX_RESUMES: u32 = 5;

impl RemoteRepository {
    pub(crate) async fn has_blob(&self, descriptor: &Descriptor) -> Result<bool> {
        let call = self.blob_call(Method::HEAD, descriptor).await?;
        let answer = self.transport().fetch(&call, 0).await?;
        match answer.status {
            StatusCode::OK => match announced(&answer.headers) {
                Some(size) if size != descriptor.size => Err(mismatch(descriptor)),
                _ => Ok(true),
            },
            StatusCode::NOT_FOUND => Ok(false),
            _ => Err(answer.failure(&call.what)),
        }
    }

    pub(crate) async fn blob(&self, descriptor: &Descriptor) -> Result<BlobStream> {
        let call = self.blob_call(Method::GET, descriptor).await?;
        let response = self.transport().open(&call).await?;
        if announced(response.headers()).is_some_and(|size| size != descriptor.size) {
            return Err(mismatch(descriptor));
        }
        let download = Download {
            repository: self.clone(),
            call,
            body: Body::new(response, self.transport().timeouts()),
            size: descriptor.size,
            received: 0,
            skip: 0,
            resumes: 0,
        };
        Ok(BlobStream::verified(download.into_stream(), descriptor))
    }

    async fn blob_call(&self, method: Method, descriptor: &Descriptor) -> Result<Call> {
        let digest = &descriptor.digest;
        let url = self.url(&format!("blobs/{digest}")).await?;
        let what = format!("the blob {}/{}@{digest}", self.registry.host(), self.path);
        Ok(Call::new(method, url, Scope::new(&self.path, "pull"), what))
    }
}

/// A download that survives broken connections.
struct Download {
    repository: RemoteRepository,
    call: Call,
    body: Body,
    size: u64,
    received: u64,
    /// Bytes that come again because the registry does not know ranges.
    skip: u64,
    resumes: u32,
}

impl Download {
    fn into_stream(self) -> impl Stream<Item = Result<Bytes>> {
        stream::try_unfold(self, |mut download| async move {
            Ok(download.next().await?.map(|piece| (piece, download)))
        })
    }

    async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            match self.body.next_unhurried().await {
                Ok(Some(mut piece)) => {
                    let again = self.skip.min(piece.len() as u64);
                    self.skip -= again;
                    let piece = piece.split_off(usize::try_from(again).unwrap_or(usize::MAX));
                    if !piece.is_empty() {
                        self.received += piece.len() as u64;
                        return Ok(Some(piece));
                    }
                }
                Ok(None) => return Ok(None),
                Err(Error::Interrupted { .. })
                    if self.received < self.size && self.resumes < MAX_RESUMES =>
                {
                    self.resumes += 1;
                    self.resume().await?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Asks for the rest.
    async fn resume(&mut self) -> Result<()> {
        if self.received > 0 {
            let range = HeaderValue::from_str(&format!("bytes={}-", self.received));
            self.call.headers.extend(range.map(|range| (RANGE, range)));
        }
        let transport = self.repository.transport();
        let response = transport.open(&self.call).await?;
        self.skip = match response.status() {
            StatusCode::PARTIAL_CONTENT if starts_at(response.headers(), self.received) => 0,
            StatusCode::PARTIAL_CONTENT => {
                return Err(Error::Protocol {
                    host: self.repository.registry.host().to_owned(),
                    reason: "another range than was asked for".to_owned(),
                });
            }
            _ => self.received,
        };
        self.body = Body::new(response, transport.timeouts());
        Ok(())
    }
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Whether `Content-Range: bytes 10-19/20` starts where it should.
fn starts_at(headers: &HeaderMap, expected: u64) -> bool {
    let value = headers.get(CONTENT_RANGE).and_then(|value| value.to_str().ok());
    let start =
        value.and_then(|value| value.strip_prefix("bytes ")?.split('-').next()?.parse().ok());
    start == Some(expected)
}

fn mismatch(descriptor: &Descriptor) -> Error {
    Error::SizeMismatch { digest: descriptor.digest.clone(), expected: descriptor.size }
}
