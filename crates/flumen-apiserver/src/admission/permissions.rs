//! What expressions are told when they ask who may do what.

use flumen_cel::{Authorizer, Decision, Question};

use crate::{
    Api, User, auth,
    http::{RequestInfo, ResourceInfo},
};

/// Answers by the roles that users have.
pub(super) struct Roles {
    pub(super) api: Api,
    pub(super) user: User,
}

impl Authorizer for Roles {
    fn decide(&self, question: &Question) -> Decision {
        // Where nobody else can ask, everybody may.
        let Some(rbac) = self.api.rbac() else {
            return Decision { is_allowed: true, reason: String::new() };
        };
        let account = question.service_account.as_ref();
        let account = account.map(|(namespace, name)| auth::service_account(namespace, name));
        let resource = question.path.is_empty().then(|| ResourceInfo {
            group: question.group.clone(),
            version: "*".to_owned(),
            namespace: question.namespace.clone(),
            resource: question.resource.clone(),
            subresource: question.subresource.clone(),
            name: question.name.clone(),
            ..ResourceInfo::default()
        });
        let (path, verb) = (question.path.clone(), question.verb.clone());
        let asked = RequestInfo { path, resource, verb };
        let (is_allowed, reason) = match rbac.allows(account.as_ref().unwrap_or(&self.user), &asked)
        {
            Ok(reason) => (true, reason),
            Err(reason) => (false, reason),
        };
        Decision { is_allowed, reason }
    }
}
