//! Questions about permissions, which expressions of policies may ask.

use std::{fmt, rc::Rc};

use super::Opaque;
use crate::{Budget, Fault, Outcome, functions::no_overload_of_types, value::Value};

/// What a question costs, as Kubernetes counts: it may have to ask another server.
const CHECK: u64 = 350_000;

/// Who knows what users may do.
pub trait Authorizer {
    /// Whether something is allowed, and why.
    fn decide(&self, question: &Question) -> Decision;
}

/// What is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Namespace and name of a service account, if the question is not about the user of the request.
    pub service_account: Option<(String, String)>,
    pub verb: String,
    /// Empty if the question is about a resource.
    pub path: String,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub is_allowed: bool,
    pub reason: String,
}

/// A question as it grows, call by call.
#[derive(Clone)]
pub struct Access {
    step: Step,
    question: Question,
    authorizer: Rc<dyn Authorizer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Authorizer,
    Path,
    Group,
    Resource,
    Decided(Decision),
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Access").field(&self.step).field(&self.question).finish()
    }
}

impl PartialEq for Access {
    fn eq(&self, other: &Self) -> bool {
        self.step == other.step && self.question == other.question
    }
}

impl Access {
    pub(super) const fn type_name(&self) -> &'static str {
        match self.step {
            Step::Authorizer => "kubernetes.authorization.Authorizer",
            Step::Path => "kubernetes.authorization.PathCheck",
            Step::Group => "kubernetes.authorization.GroupCheck",
            Step::Resource => "kubernetes.authorization.ResourceCheck",
            Step::Decided(_) => "kubernetes.authorization.Decision",
        }
    }

    /// The next step of the question.
    fn then<'a>(&self, step: Step, ask: impl FnOnce(&mut Question)) -> Value<'a> {
        let mut next = Self { step, ..self.clone() };
        ask(&mut next.question);
        Opaque::Access(next).value()
    }
}

impl Value<'_> {
    /// The variable `authorizer`.
    pub fn authorizer(authorizer: Rc<dyn Authorizer>) -> Self {
        let (step, question) = (Step::Authorizer, Question::default());
        Opaque::Access(Access { step, question, authorizer }).value()
    }

    /// A question about a resource that only lacks a verb.
    pub fn resource_check(authorizer: Rc<dyn Authorizer>, question: Question) -> Self {
        Opaque::Access(Access { step: Step::Resource, question, authorizer }).value()
    }
}

pub(super) fn apply<'a>(
    name: &str,
    args: &[Value<'a>],
    budget: &mut Budget,
) -> Option<Outcome<'a>> {
    let (Value::Opaque(opaque), rest) = args.split_first()? else { return None };
    let Opaque::Access(access) = opaque.as_ref() else { return None };
    let texts: Option<Vec<&str>> = rest
        .iter()
        .map(|arg| match arg {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let called = texts.and_then(|texts| call(access, name, &texts, budget));
    Some(called.unwrap_or_else(|| Err(no_overload_of_types(name, args))))
}

fn call<'a>(
    access: &Access,
    name: &str,
    texts: &[&str],
    budget: &mut Budget,
) -> Option<Outcome<'a>> {
    Some(match (&access.step, name, texts) {
        (Step::Authorizer, "path", [path]) if path.trim().is_empty() => {
            Err(Fault::new("path must not be empty"))
        }
        (Step::Authorizer, "path", [path]) => {
            Ok(access.then(Step::Path, |question| (*path).clone_into(&mut question.path)))
        }
        (Step::Authorizer, "group", [group]) => {
            Ok(access.then(Step::Group, |question| (*group).clone_into(&mut question.group)))
        }
        (Step::Authorizer, "serviceAccount", [_, account]) if !is_name(account, true) => {
            Err(Fault::new("Invalid service account name"))
        }
        (Step::Authorizer, "serviceAccount", [namespace, _]) if !is_name(namespace, false) => {
            Err(Fault::new("Invalid service account namespace"))
        }
        (Step::Authorizer, "serviceAccount", [namespace, account]) => {
            let account = Some(((*namespace).to_owned(), (*account).to_owned()));
            Ok(access.then(Step::Authorizer, |question| question.service_account = account))
        }
        (Step::Group, "resource", [resource]) if resource.trim().is_empty() => {
            Err(Fault::new("resource must not be empty"))
        }
        (Step::Group, "resource", [resource]) => {
            Ok(access
                .then(Step::Resource, |question| (*resource).clone_into(&mut question.resource)))
        }
        (Step::Resource, "subresource", [part]) => {
            Ok(access
                .then(Step::Resource, |question| (*part).clone_into(&mut question.subresource)))
        }
        (Step::Resource, "namespace", [namespace]) => Ok(access
            .then(Step::Resource, |question| (*namespace).clone_into(&mut question.namespace))),
        (Step::Resource, "name", [name]) => {
            Ok(access.then(Step::Resource, |question| (*name).clone_into(&mut question.name)))
        }
        // Roles do not look at selectors.
        (Step::Resource, "fieldSelector" | "labelSelector", [_]) => {
            Ok(access.then(Step::Resource, |_| {}))
        }
        (Step::Path | Step::Resource, "check", [verb]) => budget.spend(CHECK).map(|()| {
            let question = Question { verb: (*verb).to_owned(), ..access.question.clone() };
            let decision = access.authorizer.decide(&question);
            access.then(Step::Decided(decision), |_| {})
        }),
        (Step::Decided(decision), "allowed", []) => Ok(Value::Bool(decision.is_allowed)),
        (Step::Decided(decision), "reason", []) => Ok(Value::text(decision.reason.clone())),
        (Step::Decided(_), "errored", []) => Ok(Value::Bool(false)),
        (Step::Decided(_), "error", []) => Ok(Value::text("")),
        _ => return None,
    })
}

/// Whether it is the name of an object, or a label, which has no dots.
fn is_name(name: &str, has_dots: bool) -> bool {
    let is_label = |label: &str| {
        let ends = [label.bytes().next(), label.bytes().last()];
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        ends.iter().all(|end| end.is_some_and(|byte| byte != b'-')) && label.bytes().all(inner)
    };
    if has_dots {
        name.len() <= 253 && name.split('.').all(is_label)
    } else {
        name.len() <= 63 && is_label(name)
    }
}
