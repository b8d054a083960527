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
mod scale;
mod selection;
mod update;
mod watch;
pub(crate) mod write;

use std::sync::Arc;

use crate::{Answer, Api, ApiError, Call, Reason, Resource, Target, Verb, rules};

pub use self::watch::{WatchEvent, WatchKind};
pub(crate) use self::{options::WriteOptions, request::Request, watch::Watcher};

/// Carries out a call on a resource.
pub(crate) async fn handle(
    api: &Api,
    call: &Call,
    resource: Arc<Resource>,
) -> Result<Answer, ApiError> {
    let request = Request::new(api, call, resource);
    if let Some(warning) = rules::deprecation(&request.resource) {
        request.warn(warning);
    }
    match carry_out(&request).await {
        Ok(mut answer) => {
            answer.warnings.extend(request.take_warnings());
            Ok(answer)
        }
        Err(error) => Err(error.with_warnings(request.take_warnings())),
    }
}

async fn carry_out(request: &Request<'_>) -> Result<Answer, ApiError> {
    let target = request.target();
    let verbs = match &*target.subresource {
        "" => &request.resource.verbs,
        _ => &request.subresource().ok_or_else(|| missing_part(request))?.verbs,
    };
    let is_collection = target.name.is_empty() && matches!(target.verb, Verb::Update | Verb::Patch);
    if is_collection || !verbs.iter().any(|verb| verb == target.verb.name()) {
        return Err(not_allowed_here());
    }
    match (&*target.subresource, target.verb) {
        ("", Verb::Create) if request.resource.plural == "bindings" => bind(request).await,
        ("", Verb::List) => list::list(request).await,
        ("", Verb::Watch) => watch::watch(request).await,
        ("", Verb::Create) => create::create(request).await,
        ("", Verb::Delete) => delete::delete(request).await,
        ("", Verb::DeleteCollection) => collection::delete_collection(request).await,
        ("scale", _) => scale::scale(request).await,
        ("attach" | "binding" | "eviction" | "exec" | "log" | "portforward" | "proxy", _) => {
            pods::subresource(request).await
        }
        (_, Verb::Get) => get::get(request).await,
        (_, Verb::Update) => update::update(request).await,
        (_, Verb::Patch) => patch::patch(request).await,
        _ => Err(not_allowed_here()),
    }
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

fn missing_part(_request: &Request<'_>) -> ApiError {
    ApiError::new(404, Some(Reason::NotFound), "the server could not find the requested resource")
        .with_details(crate::Details::default())
}

pub(crate) fn not_allowed_here() -> ApiError {
    let message = "the server does not allow this method on the requested resource";
    ApiError::new(405, Some(Reason::MethodNotAllowed), message)
        .with_details(crate::Details::default())
}
