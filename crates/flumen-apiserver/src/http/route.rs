//! Which resource a request reaches, if any.

use std::sync::Arc;

use http::Method;

use super::{asked::Asked, request_info::ResourceInfo};
use crate::{ApiError, Behaviour, Catalog, Details, Reason, Resource, Target, Verb, rules};

/// A request that is served.
#[derive(Debug)]
pub(crate) struct Route {
    pub target: Target,
    pub resource: Arc<Resource>,
}

/// Why there is no route.
#[derive(Debug)]
pub(crate) enum Astray {
    /// Told in plain text, because no API is at that place.
    Nothing,
    Refused(ApiError),
}

impl From<ApiError> for Astray {
    fn from(error: ApiError) -> Self {
        Self::Refused(error)
    }
}

/// Whether something custom is at this place, which is refused in other ways than what is built in.
fn is_custom(resource: &Resource) -> bool {
    !matches!(resource.behaviour, Behaviour::Builtin { .. })
}

pub(crate) fn is_builtin_group(catalog: &Catalog, group: &str) -> bool {
    catalog.resources().iter().any(|resource| resource.group == group && !is_custom(resource))
}

/// Returns the resource that a request reaches: the only lookup on its way to the answer.
pub(crate) fn route(catalog: &Catalog, asked: &mut Asked) -> Result<Route, Astray> {
    let Asked { method, info, query, .. } = asked;
    let Some(place) = &info.resource else { return Err(Astray::Nothing) };
    let found = catalog.find(&place.group, &place.version, &place.resource);
    let Some(resource) = found else {
        return Err(if is_builtin_group(catalog, &place.group) {
            ApiError::unknown_resource().into()
        } else {
            Astray::Nothing
        });
    };
    let lost = || {
        if is_custom(resource) { Astray::Nothing } else { ApiError::unknown_resource().into() }
    };
    let is_namespace = resource.plural == "namespaces" && resource.group.is_empty();
    let in_namespace = !place.namespace.is_empty() && !is_namespace;
    let across = resource.is_namespaced() && !in_namespace;
    // The name may come from a selector, which is no part of the path.
    let named = !place.name.is_empty() && info.verb != "list" && info.verb != "watch"
        || place.watch_prefix && !place.name.is_empty();
    if in_namespace && !resource.is_namespaced() || across && named {
        return Err(lost());
    }
    let subresource = match place.subresource.as_str() {
        "" => None,
        name => Some(resource.subresource(name).ok_or_else(|| missing_part(resource, place))?),
    };
    if place.rest > 0 && subresource.is_none_or(|sub| sub.name != "proxy") {
        return Err(lost());
    }
    let verbs = subresource.map_or(&resource.verbs, |sub| &sub.verbs);
    let has = |verb: &str| verbs.iter().any(|v| v == verb);
    let reads_all = matches!(info.verb.as_str(), "list" | "watch");
    if across && (!has("list") || is_custom(resource) && !reads_all) {
        return Err(lost());
    }
    let fits = |verb: Verb| match verb {
        Verb::List | Verb::Watch => true,
        Verb::Create => !across && (named == subresource.is_some()),
        Verb::DeleteCollection => !across,
        Verb::Get | Verb::Update | Verb::Patch | Verb::Delete => !across && named,
    };
    let verb = verb(method, &info.verb).filter(|verb| has(verb.name()) && fits(*verb));
    let Some(verb) = verb else {
        return Err(refused(resource, place, &info.verb).into());
    };
    let mut name = if named { place.name.clone() } else { String::new() };
    if verb == Verb::Watch && !name.is_empty() {
        query.0.push(("fieldSelector".to_owned(), format!("metadata.name={name}")));
        name = String::new();
    }
    let target = Target {
        verb,
        group: place.group.clone(),
        version: place.version.clone(),
        resource: place.resource.clone(),
        subresource: place.subresource.clone(),
        namespace: if in_namespace { place.namespace.clone() } else { String::new() },
        name,
    };
    Ok(Route { target, resource: Arc::clone(resource) })
}

/// Custom resources answer for subresources that they could have as if the object were missing.
fn missing_part(resource: &Resource, place: &ResourceInfo) -> Astray {
    if is_custom(resource) {
        let warnings = rules::deprecation(resource).map(str::to_owned).into_iter().collect();
        return ApiError::not_found(&place.group, &place.resource, &place.name)
            .with_warnings(warnings)
            .into();
    }
    ApiError::unknown_resource().into()
}

fn refused(resource: &Resource, place: &ResourceInfo, verb: &str) -> ApiError {
    if !is_custom(resource) {
        return ApiError::method_not_allowed();
    }
    let of = format!("{}.{}", resource.plural, resource.group);
    let message = format!("{verb} is not supported on resources of kind {of:?}");
    let (group, kind) = (place.group.clone(), place.resource.clone());
    let details = Details { group, kind, ..Details::default() };
    ApiError::new(405, Some(Reason::MethodNotAllowed), message).with_details(details)
}

fn verb(method: &Method, name: &str) -> Option<Verb> {
    use Verb::{Create, Delete, DeleteCollection, Get, List, Patch, Update, Watch};
    let reads = matches!(name, "get" | "list" | "watch");
    if reads && method != Method::GET {
        return None;
    }
    let verbs = [Get, List, Watch, Create, Update, Patch, Delete, DeleteCollection];
    verbs.into_iter().find(|verb| verb.name() == name)
}
