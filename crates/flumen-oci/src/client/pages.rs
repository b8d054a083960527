//! Lists that come in pages.

use std::collections::HashSet;

use reqwest::{
    Method, Url,
    header::{HeaderMap, LINK},
};

use super::{RemoteRepository, answer::Answer, auth::Scope, redirect, transport::Call};
use crate::{Error, Result};

const MAX_PAGE: usize = 8 << 20;
/// At a thousand entries a page this is more than anybody lists.
const MAX_PAGES: usize = 1000;

impl RemoteRepository {
    /// Asks for `first` and for every page after it. The first answer may have any status and decides
    /// with the return value of `take` whether there is more to ask for.
    pub(super) async fn each_page(
        &self,
        first: Url,
        what: &str,
        mut take: impl FnMut(&Answer) -> Result<bool>,
    ) -> Result<()> {
        let invalid = |reason: &str| Error::Protocol {
            host: self.registry.host().to_owned(),
            reason: format!("{reason} in {what}"),
        };
        let mut seen = HashSet::new();
        let mut url = first;
        for _ in 0..MAX_PAGES {
            let call = Call::new(Method::GET, url.clone(), Scope::new(&self.path, "pull"), what);
            let answer = self.transport().fetch(&call, MAX_PAGE).await?;
            if !take(&answer)? {
                return Ok(());
            }
            let Some(next) = next_link(&answer.headers) else { return Ok(()) };
            let next = redirect::resolve(&url, next).map_err(|reason| invalid(&reason))?;
            if !redirect::is_same_origin(&url, &next) {
                return Err(invalid("a next page on another host"));
            }
            if !seen.insert(url) {
                return Err(invalid("a loop of pages"));
            }
            url = next;
        }
        Err(invalid("too many pages"))
    }
}

/// The target of `Link: <target>; rel="next"`.
fn next_link(headers: &HeaderMap) -> Option<&str> {
    headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok()).find_map(|value| {
        let (target, parameters) = value.trim_start().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| {
            let (key, value) = parameter.split_once('=').unwrap_or_default();
            key.trim().eq_ignore_ascii_case("rel") && value.trim().trim_matches('"') == "next"
        });
        is_next.then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(link: &str, expected: Option<&str>) {
        let headers = HeaderMap::from_iter([(LINK, link.parse().expect("a header"))]);
        assert_eq!(next_link(&headers), expected, "{link}");
    }

    #[test]
    fn links_to_the_next_page_are_found() {
        check("</v2/a/tags/list?last=x&n=2>; rel=\"next\"", Some("/v2/a/tags/list?last=x&n=2"));
        check("<https://a/b>;rel=next", Some("https://a/b"));
        check("<https://a/b>; rel=\"prev\"", None);
        check("https://a/b; rel=\"next\"", None);
        check("<", None);
    }
}
