//! Whom to act as.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{ConfigError, Error};

/// What the server unescapes in the names of further facts.
const NOT_IN_HEADER_NAMES: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Somebody in whose name requests are made. Nobody by default: the credentials speak for themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    pub user: Option<String>,
    pub groups: Vec<String>,
    pub uid: Option<String>,
    /// Further facts, such as scopes, each with its values.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl Identity {
    pub fn user(name: impl Into<String>) -> Self {
        Self { user: Some(name.into()), ..Self::default() }
    }

    /// A service account. The server adds its groups by itself; naming them would ask for the right to
    /// act as those groups as well.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self::user(format!("system:serviceaccount:{namespace}:{name}"))
    }

    pub(crate) fn headers(&self) -> Result<HeaderMap, Error> {
        let mut headers = HeaderMap::new();
        let mut add = |name: HeaderName, value: &String| {
            let invalid = |_| ConfigError::Identity { name: value.escape_debug().to_string() };
            headers.append(name, HeaderValue::from_str(value).map_err(invalid)?);
            Ok::<_, Error>(())
        };
        if let Some(user) = &self.user {
            add(HeaderName::from_static("impersonate-user"), user)?;
        }
        for group in &self.groups {
            add(HeaderName::from_static("impersonate-group"), group)?;
        }
        if let Some(uid) = &self.uid {
            add(HeaderName::from_static("impersonate-uid"), uid)?;
        }
        for (key, values) in &self.extra {
            let key = utf8_percent_encode(key, NOT_IN_HEADER_NAMES);
            let name = HeaderName::try_from(format!("impersonate-extra-{key}"))
                .map_err(|_| ConfigError::Identity { name: key.to_string() })?;
            values.iter().try_for_each(|value| add(name.clone(), value))?;
        }
        // The server refuses groups or an id without a user, with a message about headers.
        if self.user.is_none() && !headers.is_empty() {
            return Err(ConfigError::IdentityWithoutUser.into());
        }
        Ok(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_become_headers() {
        let identity = Identity {
            groups: vec!["a".to_owned(), "b".to_owned()],
            uid: Some("7".to_owned()),
            extra: BTreeMap::from([("example.com/scopes".to_owned(), vec!["x".to_owned()])]),
            ..Identity::service_account("shop", "deployer")
        };
        let headers = identity.headers().expect("headers");
        assert_eq!(headers["impersonate-user"], "system:serviceaccount:shop:deployer");
        assert_eq!(headers.get_all("impersonate-group").iter().count(), 2);
        assert_eq!(headers["impersonate-uid"], "7");
        assert_eq!(headers["impersonate-extra-example.com%2Fscopes"], "x");
        assert!(Identity::default().headers().expect("headers").is_empty());
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let error = Identity::user("a\nb").headers().expect_err("a line end");
        assert_eq!(error.to_string(), "`a\\nb` is not a name that one can act as");
        let alone = Identity { groups: vec!["a".to_owned()], ..Identity::default() };
        assert!(alone.headers().is_err());
    }
}
