//! The tags of a repository.

use reqwest::StatusCode;
use serde::Deserialize;

use super::{RemoteRepository, answer::Answer};
use crate::{Error, Result, reference};

/// What is asked for; registries may give fewer at once.
const PAGE_SIZE: u32 = 1000;
const MAX_TAGS: usize = 500_000;

#[derive(Deserialize)]
struct TagList {
    // `null` is how an empty list arrives from servers that are written in Go.
    tags: Option<Vec<String>>,
}

impl RemoteRepository {
    pub(crate) async fn tags(&self) -> Result<Vec<String>> {
        let too_many = || Error::TooLarge { what: self.tags_name(), limit: MAX_TAGS as u64 };
        self.tags_up_to(MAX_TAGS).await?.ok_or_else(too_many)
    }

    /// All tags, or nothing if there are more than `max`.
    pub(crate) async fn tags_up_to(&self, max: usize) -> Result<Option<Vec<String>>> {
        let what = self.tags_name();
        let url = self.url(&format!("tags/list?n={PAGE_SIZE}")).await?;
        let mut tags = Vec::new();
        self.each_page(url, &what, |answer| {
            tags.extend(self.page_of_tags(answer, &what)?);
            Ok(tags.len() <= max)
        })
        .await?;
        if tags.len() > max {
            return Ok(None);
        }
        tags.sort_unstable();
        tags.dedup();
        Ok(Some(tags))
    }

    fn tags_name(&self) -> String {
        format!("the tags of {}/{}", self.registry.host(), self.path)
    }

    fn page_of_tags(&self, answer: &Answer, what: &str) -> Result<Vec<String>> {
        let host = || self.registry.host().to_owned();
        if answer.status != StatusCode::OK {
            return Err(answer.failure(what));
        }
        if answer.is_web_page() {
            let reason = "a web page instead of a list of tags".to_owned();
            return Err(Error::NotARegistry { host: host(), reason });
        }
        let page: TagList =
            serde_json::from_slice(&answer.body).map_err(|error| Error::Protocol {
                host: host(),
                reason: format!("a list of tags that cannot be read: {error}"),
            })?;
        // Who uses a tag puts it into addresses and paths.
        Ok(page.tags.unwrap_or_default().into_iter().filter(|tag| reference::is_tag(tag)).collect())
    }
}
