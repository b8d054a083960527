//! What each verb does, for built-in and custom resources alike.

pub(crate) mod body;
mod collection;
mod continuation;
pub(crate) mod create;
mod delete;
mod get;
mod list;
mod options;
mod patch;
mod pods;
mod request;
mod reviews;
mod scale;
mod selection;
mod token_request;
mod update;
mod watch;
pub(crate) mod write;

use std::sync::Arc;

use self::reviews::Review;
use crate::{Answer, Api, ApiError, Call, Resource, Target, Verb, auth::Auth, rules};

pub(crate) use self::{options::WriteOptions, request::Request};

/// Carries out a call on a resource. Questions about users need `auth`, which knows them.
pub(crate) async fn handle(
    api: &Api,
    auth: Option<&Auth>,
    call: &Call,
    resource: Arc<Resource>,
) -> Result<Answer, ApiError> {
    let request = Request::new(api, call, resource);
    if let Some(warning) = rules::deprecation(&request.resource) {
        request.warn(warning);
    }
    match carry_out(&request, auth).await {
        Ok(mut answer) => {
            answer.warnings.extend(request.take_warnings());
            Ok(answer)
        }
        Err(error) => Err(error.with_warnings(request.take_warnings())),
    }
}

async fn carry_out(request: &Request<'_>, auth: Option<&Auth>) -> Result<Answer, ApiError> {
    let target = request.target();
    let verbs = match &*target.subresource {
        "" => &request.resource.verbs,
        _ => &request.subresource().ok_or_else(ApiError::unknown_resource)?.verbs,
    };
    let is_collection = target.name.is_empty() && matches!(target.verb, Verb::Update | Verb::Patch);
    if is_collection || !verbs.iter().any(|verb| verb == target.verb.name()) {
        return Err(ApiError::method_not_allowed());
    }
    match (&*target.subresource, target.verb) {
        ("", Verb::List) => list::list(request).await,
        ("", Verb::Watch) => watch::watch(request).await,
        ("", Verb::Create) => create(request, auth).await,
        ("", Verb::Delete) => delete::delete(request).await,
        ("", Verb::DeleteCollection) => collection::delete_collection(request).await,
        ("token", Verb::Create) => Box::pin(token_request::create(request, known(auth)?)).await,
        ("scale", _) => scale::scale(request).await,
        ("attach" | "binding" | "eviction" | "exec" | "log" | "portforward" | "proxy", _) => {
            pods::subresource(request).await
        }
        (_, Verb::Get) => get::get(request).await,
        (_, Verb::Update) => update::update(request).await,
        (_, Verb::Patch) => patch::patch(request).await,
        _ => Err(ApiError::method_not_allowed()),
    }
}

/// Creates an object. A few kinds are not stored: creating them asks a question or binds a pod.
async fn create(request: &Request<'_>, auth: Option<&Auth>) -> Result<Answer, ApiError> {
    if let Some(review) = Review::of(&request.resource) {
        // Boxed like tokens, because answering makes calls of its own.
        return Box::pin(reviews::answer(request, known(auth)?, review)).await;
    }
    match (&*request.resource.group, &*request.resource.plural) {
        ("", "bindings") => bind(request).await,
        _ => create::create(request).await,
    }
}

/// Parts of the server that call it in the process have no users to ask about.
fn known(auth: Option<&Auth>) -> Result<&Auth, ApiError> {
    auth.ok_or_else(ApiError::method_not_allowed)
}

/// Bindings are sent to a place of their own, too.
async fn bind(request: &Request<'_>) -> Result<Answer, ApiError> {
    let mut body = body::object(request, options::FieldValidation::Ignore)?;
    create::wipe_system_fields(&mut body);
    body::match_namespace(request, &mut body)?;
    let pods = Target { resource: "pods".to_owned(), ..request.call.target.clone() };
    let resource = request.api.resource(&pods)?;
    let request = Request::new(request.api, request.call, resource);
    pods::bind(&request, crate::meta::name(&body), &body).await
}
