//! Questions about users and what they may do. They are answered and not stored.

use std::collections::BTreeMap;

use flumen_fields::FieldError;
use flumen_kinds::{AccessReview, validate_access_review};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Request, WriteOptions, body, create, write};
use crate::{
    Answer, ApiError, Resource, User,
    auth::Auth,
    clock,
    http::{RequestInfo, ResourceInfo},
    meta,
};

/// A review and who answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Review {
    SelfSubject,
    Token,
    SelfAccess,
    Access,
    LocalAccess,
    SelfRules,
}

impl Review {
    /// The review that a resource is, if it is one.
    pub(super) fn of(resource: &Resource) -> Option<Self> {
        match (&*resource.group, &*resource.plural) {
            ("authentication.k8s.io", "selfsubjectreviews") => Some(Self::SelfSubject),
            ("authentication.k8s.io", "tokenreviews") => Some(Self::Token),
            ("authorization.k8s.io", "selfsubjectaccessreviews") => Some(Self::SelfAccess),
            ("authorization.k8s.io", "subjectaccessreviews") => Some(Self::Access),
            ("authorization.k8s.io", "localsubjectaccessreviews") => Some(Self::LocalAccess),
            ("authorization.k8s.io", "selfsubjectrulesreviews") => Some(Self::SelfRules),
            _ => None,
        }
    }

    /// What a review of access has to say.
    fn validate(self, object: &Value) -> Vec<FieldError> {
        let review = match self {
            Self::SelfAccess => AccessReview::Own,
            Self::Access => AccessReview::Anyone,
            Self::LocalAccess => AccessReview::Local,
            Self::SelfSubject | Self::Token | Self::SelfRules => return Vec::new(),
        };
        validate_access_review(review, object)
    }
}

pub(super) async fn answer(
    request: &Request<'_>,
    auth: &Auth,
    review: Review,
) -> Result<Answer, ApiError> {
    let options = WriteOptions::of(request.call)?;
    let mut object = body::object(request, options.field_validation)?;
    create::wipe_system_fields(&mut object);
    body::match_namespace(request, &mut object)?;
    let mut object = write::own(request, None, object, &options, "");
    let errors = review.validate(&object);
    if !errors.is_empty() {
        // The real server has forgotten by then of which kind the review is.
        return Err(ApiError::invalid(&request.resource.group, "", "", &errors));
    }
    let user = &request.call.user;
    let status = match review {
        Review::SelfSubject => {
            meta::set(&mut object, "creationTimestamp", clock::text(clock::now()));
            json!({ "userInfo": user_info(user) })
        }
        Review::Token => token_status(auth, &object["spec"]).await?,
        Review::SelfAccess => access_status(auth, user, &object["spec"]),
        Review::Access | Review::LocalAccess => {
            access_status(auth, &subject(&object["spec"]), &object["spec"])
        }
        Review::SelfRules => rules_status(auth, user, &object["spec"])?,
    };
    object["status"] = status;
    Ok(request.answer_as_is(201, object))
}

fn access_status(auth: &Auth, user: &User, spec: &Value) -> Value {
    let text = |of: &Value, key: &str| of[key].as_str().unwrap_or_default().to_owned();
    let (of, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let request = if of.is_null() {
        RequestInfo { path: text(path, "path"), resource: None, verb: text(path, "verb") }
    } else {
        let resource = ResourceInfo {
            group: text(of, "group"),
            version: text(of, "version"),
            namespace: text(of, "namespace"),
            resource: text(of, "resource"),
            subresource: text(of, "subresource"),
            name: text(of, "name"),
            ..ResourceInfo::default()
        };
        RequestInfo { path: String::new(), resource: Some(resource), verb: text(of, "verb") }
    };
    let (allowed, reason) = match auth.rbac().allows(user, &request) {
        Ok(reason) => (true, reason),
        Err(reason) => (false, reason),
    };
    let mut status = json!({ "allowed": allowed });
    if !reason.is_empty() {
        status["reason"] = reason.into();
    }
    status
}

/// The user that a review is about.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Subject {
    user: String,
    uid: String,
    groups: Option<Vec<String>>,
    extra: Option<BTreeMap<String, Vec<String>>>,
}

fn subject(spec: &Value) -> User {
    let Subject { user, uid, groups, extra } = Subject::deserialize(spec).unwrap_or_default();
    User { name: user, uid, groups: groups.unwrap_or_default(), extra: extra.unwrap_or_default() }
}

fn rules_status(auth: &Auth, user: &User, spec: &Value) -> Result<Value, ApiError> {
    let namespace = spec["namespace"].as_str().unwrap_or_default();
    if namespace.is_empty() {
        return Err(ApiError::bad_request("no namespace on request"));
    }
    let (mut resources, mut others) = (Vec::new(), Vec::new());
    for rule in auth.rbac().rules(user, namespace) {
        if !rule.resources.is_empty() {
            let mut shown = rule.clone();
            shown.paths.clear();
            resources.push(json!(shown));
        }
        if !rule.paths.is_empty() {
            others.push(json!({ "verbs": rule.verbs, "nonResourceURLs": rule.paths }));
        }
    }
    Ok(json!({ "resourceRules": resources, "nonResourceRules": others, "incomplete": false }))
}

async fn token_status(auth: &Auth, spec: &Value) -> Result<Value, ApiError> {
    let token = spec["token"].as_str().unwrap_or_default();
    if token.is_empty() {
        return Err(ApiError::bad_request("token is required for TokenReview in authentication"));
    }
    let wanted = spec["audiences"].as_array().into_iter().flatten();
    let wanted: Vec<String> = wanted.filter_map(|word| word.as_str().map(str::to_owned)).collect();
    Ok(match auth.user_of_token(token, &wanted).await {
        Some((user, audiences)) => json!({
            "authenticated": true,
            "user": user_info(&user),
            "audiences": audiences,
        }),
        None => json!({ "user": {}, "error": "invalid bearer token" }),
    })
}

fn user_info(user: &User) -> Value {
    let mut info = Map::new();
    for (key, text) in [("username", &user.name), ("uid", &user.uid)] {
        if !text.is_empty() {
            info.insert(key.to_owned(), text.as_str().into());
        }
    }
    if !user.groups.is_empty() {
        info.insert("groups".to_owned(), user.groups.as_slice().into());
    }
    if !user.extra.is_empty() {
        info.insert("extra".to_owned(), json!(user.extra));
    }
    info.into()
}
