//! The `token` subresource of service accounts.

use flumen_fields::{FieldError, Filter, Path, Schema, Versions, Write};
use flumen_kinds::Target;
use flumen_schema::api::Api as Facts;
use serde_json::{Value, json};

use super::{Request, WriteOptions, body};
use crate::{
    Answer, ApiError, Payload, ResourceName,
    auth::{ACCOUNTS, Auth, Bound, ISSUER, Reference, ServiceAccounts},
    clock, meta,
};

const GROUP: &str = "authentication.k8s.io";
const API_VERSION: &str = "authentication.k8s.io/v1";
const LEAST_SECONDS: i64 = 600;
const MOST_SECONDS: i64 = 1 << 32;

pub(super) async fn create(request: &Request<'_>, auth: &Auth) -> Result<Answer, ApiError> {
    let (target, accounts) = (request.target(), auth.accounts());
    let options = WriteOptions::of(request.call)?;
    let mut object = read(request, &options)?;
    let account = accounts.client().get(ACCOUNTS, &target.namespace, &target.name).await?;
    for (field, wanted) in [("name", &target.name), ("namespace", &target.namespace)] {
        let found = meta::text(&object, field);
        if !found.is_empty() && found != wanted {
            let message = format!(
                "the {field} of the provided object does not match the {field} sent on the request"
            );
            return Err(ApiError::bad_request(message));
        }
    }
    note_owner(&mut object, &options.manager);
    let seconds = object["spec"]["expirationSeconds"].as_i64().unwrap_or_default();
    check_seconds(seconds, meta::name(&object))?;
    let audiences = match words(&object["spec"]["audiences"]) {
        none if none.is_empty() => vec![ISSUER.to_owned()],
        some => some,
    };
    let bound = bound(accounts, &object, &account, &target.namespace).await?;
    let now = clock::now();
    let expires = now.as_second() + seconds;
    let token = accounts.issue(&audiences, expires, bound)?;
    object["spec"]["audiences"] = audiences.into();
    meta::set(&mut object, "name", target.name.as_str());
    meta::set(&mut object, "namespace", target.namespace.as_str());
    meta::set(&mut object, "uid", meta::text(&account, "uid"));
    meta::set(&mut object, "creationTimestamp", clock::text(now));
    let until = jiff::Timestamp::from_second(expires).unwrap_or(now);
    object["status"] = json!({ "token": token, "expirationTimestamp": clock::text(until) });
    Ok(Answer::new(201, Payload::Object { object, resource: None }))
}

fn read(request: &Request<'_>, options: &WriteOptions) -> Result<Value, ApiError> {
    let call = request.call;
    let message = Facts::get().message(GROUP, "v1", "TokenRequest");
    let message =
        message.ok_or_else(|| ApiError::internal("there is no type of token requests"))?;
    let decoded =
        flumen_kinds::decode(&call.body, body::media_of(call.media)?, &Target::from(message))
            .map_err(|error| ApiError::bad_request(error.to_string()))?;
    body::report(request, options.field_validation, decoded.strict.into())
        .map_err(ApiError::bad_request)?;
    let mut object = decoded.object;
    flumen_kinds::default_type(&mut object, message.object);
    Ok(object)
}

fn check_seconds(seconds: i64, name: &str) -> Result<(), ApiError> {
    let why = if seconds < LEAST_SECONDS {
        "may not specify a duration less than 10 minutes"
    } else if seconds > MOST_SECONDS {
        "may not specify a duration larger than 2^32 seconds"
    } else {
        return Ok(());
    };
    let root = Path::new("spec");
    let error = FieldError::invalid(&root.child("expirationSeconds"), seconds, why);
    Err(ApiError::invalid(GROUP, "TokenRequest", name, &[error]))
}

/// What the token ends with: the account, and the object that the request names.
async fn bound(
    accounts: &ServiceAccounts,
    object: &Value,
    account: &Value,
    namespace: &str,
) -> Result<Bound, ApiError> {
    let mut bound = Bound {
        namespace: namespace.to_owned(),
        serviceaccount: Reference::of(account),
        ..Bound::default()
    };
    let reference = &object["spec"]["boundObjectRef"];
    if reference.is_null() {
        return Ok(bound);
    }
    let text = |key: &str| reference[key].as_str().unwrap_or_default();
    let (plural, place, home) = match (text("kind"), text("apiVersion")) {
        ("Pod", "v1") => ("pods", &mut bound.pod, namespace),
        ("Secret", "v1") => ("secrets", &mut bound.secret, namespace),
        ("Node", "v1") => ("nodes", &mut bound.node, ""),
        (kind, version) => {
            let (group, version) = version.split_once('/').unwrap_or(("", version));
            let message = format!(
                "cannot bind token for serviceaccount {:?} to type with kind: {group}/{version}, Kind={kind}",
                meta::name(account)
            );
            return Err(ApiError::bad_request(message));
        }
    };
    let of = ResourceName::new("", "v1", plural);
    let object = accounts.client().get(of, home, text("name")).await?;
    let found = Reference::of(&object);
    let wanted = text("uid");
    if !wanted.is_empty() && wanted != found.uid {
        let why = format!(
            "the UID in the bound object reference ({wanted}) does not match the UID in record. The object might have been deleted and then recreated"
        );
        return Err(ApiError::conflict("", plural, &found.name, &why));
    }
    *place = Some(found);
    Ok(bound)
}

fn words(list: &Value) -> Vec<String> {
    let words = list.as_array().into_iter().flatten();
    words.filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

fn note_owner(object: &mut Value, manager: &str) {
    let filter = Filter::of_builtin("TokenRequest", "token", false);
    let write = Write {
        versions: &TokenVersions,
        api_version: API_VERSION,
        kind: "TokenRequest",
        subresource: "token",
        filter: &filter,
        now: &clock::text(clock::now()),
    };
    flumen_fields::update(&write, None, object, manager);
}

/// Token requests have one version.
#[derive(Debug)]
struct TokenVersions;

impl Versions for TokenVersions {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        let message = Facts::get().message(GROUP, "v1", "TokenRequest")?;
        (api_version == API_VERSION).then(|| Schema::of_builtin(message.object))
    }

    fn convert(&self, object: &Value, _api_version: &str) -> Result<Value, String> {
        Ok(object.clone())
    }

    fn empty(&self) -> Value {
        let message = Facts::get().message(GROUP, "v1", "TokenRequest");
        let mut empty =
            message.map(|message| flumen_kinds::zero(message.object)).unwrap_or_default();
        empty["kind"] = "TokenRequest".into();
        empty["apiVersion"] = API_VERSION.into();
        empty
    }
}
