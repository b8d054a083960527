//! Requests on behalf of another user.

use std::collections::BTreeMap;

use http::HeaderMap;
use percent_encoding::percent_decode_str;

use super::{ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, service_account_groups};
use crate::{
    ApiError, User,
    http::{RequestInfo, ResourceInfo},
};

const EXTRA: &str = "impersonate-extra-";

/// One thing that the request wants to be.
#[derive(Clone, Debug)]
enum Wish {
    ServiceAccount { namespace: String, name: String },
    User(String),
    Group(String),
    Uid(String),
    Extra { key: String, value: String },
}

impl Wish {
    /// What a user must be allowed, with the verb `impersonate`.
    fn request(&self) -> RequestInfo {
        let of = |group: &str, resource: &str, name: &str| ResourceInfo {
            group: group.to_owned(),
            version: "v1".to_owned(),
            resource: resource.to_owned(),
            name: name.to_owned(),
            ..ResourceInfo::default()
        };
        let resource = match self {
            Self::ServiceAccount { namespace, name } => {
                ResourceInfo { namespace: namespace.clone(), ..of("", "serviceaccounts", name) }
            }
            Self::User(name) => of("", "users", name),
            Self::Group(name) => of("", "groups", name),
            Self::Uid(uid) => of("authentication.k8s.io", "uids", uid),
            Self::Extra { key, value } => ResourceInfo {
                subresource: key.clone(),
                ..of("authentication.k8s.io", "userextras", value)
            },
        };
        let verb = "impersonate".to_owned();
        RequestInfo { path: String::new(), resource: Some(resource), verb }
    }

    /// As the message shows it.
    fn describe(&self) -> String {
        let (kind, namespace, name, field) = match self {
            Self::ServiceAccount { namespace, name } => {
                ("ServiceAccount", namespace.as_str(), name.as_str(), "")
            }
            Self::User(name) => ("User", "", name.as_str(), ""),
            Self::Group(name) => ("Group", "", name.as_str(), ""),
            Self::Uid(uid) => ("UID", "", uid.as_str(), ""),
            Self::Extra { key, value } => ("UserExtra", "", value.as_str(), key.as_str()),
        };
        format!("{{{kind} {namespace} {name}    {field}}}")
    }
}

/// The user that a request wants to be, if it wants to be another. `check` says whether the one who
/// asks may.
pub(super) fn user(
    headers: &HeaderMap,
    check: impl Fn(&RequestInfo) -> Result<(), ApiError>,
) -> Result<Option<User>, ApiError> {
    let wishes = wishes(headers);
    let is_user = |wish: &Wish| matches!(wish, Wish::User(_) | Wish::ServiceAccount { .. });
    if wishes.is_empty() {
        return Ok(None);
    }
    if !wishes.iter().any(is_user) {
        let wishes: Vec<String> = wishes.iter().map(Wish::describe).collect();
        let message = format!("requested [{}] without impersonating a user", wishes.join(" "));
        return Err(ApiError::bad_request(message));
    }
    for wish in &wishes {
        check(&wish.request())?;
    }
    Ok(Some(become_user(wishes)))
}

fn wishes(headers: &HeaderMap) -> Vec<Wish> {
    let text = |name: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    let mut wishes = Vec::new();
    let user = text("impersonate-user");
    match super::split_service_account(&user) {
        Some((namespace, name)) => wishes
            .push(Wish::ServiceAccount { namespace: namespace.to_owned(), name: name.to_owned() }),
        None if !user.is_empty() => wishes.push(Wish::User(user)),
        None => {}
    }
    for group in headers.get_all("impersonate-group") {
        if let Ok(group) = group.to_str() {
            wishes.push(Wish::Group(group.to_owned()));
        }
    }
    for (name, value) in headers {
        if let (Some(key), Ok(value)) = (name.as_str().strip_prefix(EXTRA), value.to_str()) {
            let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
            wishes.push(Wish::Extra { key, value: value.to_owned() });
        }
    }
    let uid = text("impersonate-uid");
    if !uid.is_empty() {
        wishes.push(Wish::Uid(uid));
    }
    wishes
}

fn become_user(wishes: Vec<Wish>) -> User {
    let mut user = User::default();
    let mut own_groups = Vec::new();
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for wish in wishes {
        match wish {
            Wish::ServiceAccount { namespace, name } => {
                user.name = super::service_account_name(&namespace, &name);
                own_groups = service_account_groups(&namespace);
            }
            Wish::User(name) => user.name = name,
            Wish::Group(group) => user.groups.push(group),
            Wish::Uid(uid) => user.uid = uid,
            Wish::Extra { key, value } => extra.entry(key).or_default().push(value),
        }
    }
    user.extra = extra;
    if user.groups.is_empty() {
        user.groups = own_groups;
    }
    let known = |group: &String| group == AUTHENTICATED || group == UNAUTHENTICATED;
    if user.name == ANONYMOUS {
        if !user.groups.iter().any(|group| group == UNAUTHENTICATED) {
            user.groups.push(UNAUTHENTICATED.to_owned());
        }
    } else if !user.groups.iter().any(known) {
        user.groups.push(AUTHENTICATED.to_owned());
    }
    user
}
