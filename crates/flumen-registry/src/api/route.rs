//! Which endpoint a path means.
//!
//! Names of repositories contain slashes, and may contain words such as `blobs`, so paths are read
//! from their end.

use super::answer::{Failure, failure};
use crate::{
    digest::Digest,
    name::{InvalidReference, Reference, RepositoryName},
};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    Base,
    Catalog,
    Tags(RepositoryName),
    Referrers(RepositoryName, Digest),
    Manifest(RepositoryName, Reference),
    Blob(RepositoryName, Digest),
    NewUpload(RepositoryName),
    Upload(RepositoryName, String),
}

impl Route {
    pub(super) fn parse(path: &str) -> Result<Self, Failure> {
        if path == "/v2" {
            return Ok(Self::Base);
        }
        let path = path.strip_prefix("/v2/").ok_or_else(failure::not_found)?;
        match path {
            "" => return Ok(Self::Base),
            "_catalog" => return Ok(Self::Catalog),
            _ => {}
        }
        if let Some(name) = path.strip_suffix("/tags/list") {
            return Ok(Self::Tags(repository(name)?));
        }
        let uploads = "/blobs/uploads";
        if let Some(name) =
            path.strip_suffix(uploads).or_else(|| path.strip_suffix("/blobs/uploads/"))
        {
            return Ok(Self::NewUpload(repository(name)?));
        }
        let (front, last) = path.rsplit_once('/').ok_or_else(failure::not_found)?;
        if let Some(name) = front.strip_suffix(uploads) {
            return Ok(Self::Upload(repository(name)?, last.to_owned()));
        }
        // The only character of a reference that some clients escape.
        let last = last.replace("%3A", ":").replace("%3a", ":");
        let (name, kind) = front.rsplit_once('/').ok_or_else(failure::not_found)?;
        match kind {
            "manifests" => Ok(Self::Manifest(repository(name)?, reference(&last)?)),
            "blobs" => Ok(Self::Blob(repository(name)?, digest(&last)?)),
            "referrers" => Ok(Self::Referrers(repository(name)?, digest(&last)?)),
            _ => Err(failure::not_found()),
        }
    }
}

pub(super) fn repository(text: &str) -> Result<RepositoryName, Failure> {
    text.parse().map_err(|_| failure::name_invalid())
}

pub(super) fn digest(text: &str) -> Result<Digest, Failure> {
    text.parse().map_err(|_| failure::digest_invalid("not a digest that is supported here"))
}

fn reference(text: &str) -> Result<Reference, Failure> {
    text.parse().map_err(|error| match error {
        InvalidReference::Tag => failure::tag_invalid(),
        InvalidReference::Digest => failure::digest_invalid("not a digest that is supported here"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_contain_the_words_of_the_api() {
        let name = "a/blobs/uploads/tags".parse::<RepositoryName>().expect("a name");
        let upload = Route::parse("/v2/a/blobs/uploads/tags/blobs/uploads/x").expect("a route");
        assert_eq!(upload, Route::Upload(name.clone(), "x".to_owned()));
        assert_eq!(
            Route::parse("/v2/a/blobs/uploads/tags/tags/list").expect("a route"),
            Route::Tags(name)
        );
    }

    #[test]
    fn everything_else_is_refused() {
        let paths = [
            "/",
            "/v1/",
            "/v2/a",
            "/v2/a/manifests/",
            "/v2/A/manifests/x",
            "/v2/a/manifests/-x",
            "/v2/a/blobs/sha256:00",
            "/v2/../blobs/uploads/",
            "/v2//tags/list",
            "/v2/a/b/c/d",
        ];
        for path in paths {
            assert!(Route::parse(path).is_err(), "{path}");
        }
    }
}
