//! What can be asked at which path, before it is put into words of one of the documents.

use crate::{Behaviour, Resource, Subresource};

/// A parameter of a query or a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub name: &'static str,
    pub kind: &'static str,
    pub in_path: bool,
}

const fn query(name: &'static str, kind: &'static str) -> Parameter {
    Parameter { name, kind, in_path: false }
}

const NAME: Parameter = Parameter { name: "name", kind: "string", in_path: true };
const NAMESPACE: Parameter = Parameter { name: "namespace", kind: "string", in_path: true };
const PRETTY: Parameter = query("pretty", "string");

const WRITE: &[Parameter] = &[
    query("dryRun", "string"),
    query("fieldManager", "string"),
    query("fieldValidation", "string"),
];
const FORCE: Parameter = query("force", "boolean");
const DELETE: &[Parameter] = &[
    query("dryRun", "string"),
    query("gracePeriodSeconds", "integer"),
    query("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
    query("orphanDependents", "boolean"),
    query("propagationPolicy", "string"),
];
const SELECT: &[Parameter] = &[
    query("continue", "string"),
    query("fieldSelector", "string"),
    query("labelSelector", "string"),
    query("limit", "integer"),
    query("resourceVersion", "string"),
    query("resourceVersionMatch", "string"),
    query("sendInitialEvents", "boolean"),
    query("timeoutSeconds", "integer"),
];
const WATCH: &[Parameter] = &[query("allowWatchBookmarks", "boolean"), query("watch", "boolean")];

/// What a request or an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The kind of the operation.
    Kind,
    List,
    Status,
    DeleteOptions,
    Patch,
    Text,
}

#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// In lower case.
    pub method: &'static str,
    pub id: String,
    pub action: &'static str,
    /// Group, version and kind that it is about.
    pub kind: [String; 3],
    pub body: Option<Content>,
    pub answer: Content,
    pub codes: &'static [&'static str],
    pub parameters: Vec<Parameter>,
}

#[derive(Clone, Debug)]
pub(super) struct Place {
    pub path: String,
    pub parameters: Vec<Parameter>,
    pub operations: Vec<Operation>,
    pub is_custom: bool,
    /// `apps_v1`.
    pub tag: String,
}

/// All places of a resource but those of the old way to watch.
pub(super) fn places(resource: &Resource) -> Vec<Place> {
    let of = Naming::of(resource);
    let mut places = vec![of.place("", &collection(&of))];
    if resource.is_namespaced() && of.has("list") {
        let path = format!("{}/{}", of.prefix, resource.plural);
        let id = format!("list{}{}ForAllNamespaces", of.group_version, resource.kind);
        let mut list = of.list(id);
        list.parameters.push(PRETTY);
        places.push(of.finish(path, vec![list], Vec::new()));
    }
    places.push(of.place("/{name}", &single(&of, None)));
    for sub in &resource.subresources {
        places.push(of.place(&format!("/{{name}}/{}", sub.name), &single(&of, Some(sub))));
    }
    places.retain(|place| !place.operations.is_empty());
    places
}

/// Names of a resource in paths and in operations.
struct Naming<'a> {
    resource: &'a Resource,
    prefix: String,
    /// `AppsV1`.
    group_version: String,
    scope: &'static str,
}

impl<'a> Naming<'a> {
    fn of(resource: &'a Resource) -> Self {
        let prefix = super::prefix(&resource.group, &resource.version);
        let group = resource.group.strip_suffix(".k8s.io").unwrap_or(&resource.group);
        let group = if group.is_empty() { "core" } else { group };
        let mut group_version: String =
            group.split(['.', '-']).map(capital).collect::<Vec<_>>().concat();
        group_version += &capital(&resource.version);
        let scope = if resource.is_namespaced() { "Namespaced" } else { "" };
        Self { resource, prefix, group_version, scope }
    }

    fn has(&self, verb: &str) -> bool {
        self.resource.verbs.iter().any(|known| known == verb)
    }

    fn id(&self, verb: &str, what: &str) -> String {
        let Self { group_version, scope, resource, .. } = self;
        format!("{verb}{group_version}{scope}{}{what}", resource.kind)
    }

    fn kind(&self) -> [String; 3] {
        let Resource { group, version, kind, .. } = self.resource;
        [group.clone(), version.clone(), kind.clone()]
    }

    fn operation(
        &self,
        (method, action): (&'static str, &'static str),
        id: String,
        answer: Content,
        codes: &'static [&'static str],
    ) -> Operation {
        let (body, parameters) = (None, Vec::new());
        Operation { method, id, action, kind: self.kind(), body, answer, codes, parameters }
    }

    fn list(&self, id: String) -> Operation {
        let mut list = self.operation(("get", "list"), id, Content::List, &["200"]);
        list.parameters = [SELECT, WATCH].concat();
        list
    }

    /// The place below the resource, with the parameters of its path.
    fn place(&self, below: &str, operations: &[Operation]) -> Place {
        let mut parameters = Vec::new();
        let mut path = self.prefix.clone();
        if below.contains("{name}") {
            parameters.push(NAME);
        }
        if self.resource.is_namespaced() {
            parameters.push(NAMESPACE);
            path += "/namespaces/{namespace}";
        }
        if operations.iter().any(|operation| operation.action != "connect") {
            parameters.push(PRETTY);
        }
        path.extend(["/", &self.resource.plural, below]);
        self.finish(path, operations.to_vec(), parameters)
    }

    /// What all operations share is said of the place.
    fn finish(
        &self,
        path: String,
        mut operations: Vec<Operation>,
        mut parameters: Vec<Parameter>,
    ) -> Place {
        if let [only] = operations.as_mut_slice() {
            parameters.append(&mut only.parameters);
        }
        for operation in &mut operations {
            operation.parameters.sort_by_key(|parameter| parameter.name);
        }
        parameters.sort_by_key(|parameter| parameter.name);
        let is_custom = !matches!(self.resource.behaviour, Behaviour::Builtin { .. });
        let mut tag = self.group_version.clone();
        tag.truncate(tag.len() - self.resource.version.len());
        let tag = format!("{}_{}", uncapital(&tag), self.resource.version);
        Place { path, parameters, operations, is_custom, tag }
    }
}

fn collection(of: &Naming<'_>) -> Vec<Operation> {
    let mut operations = Vec::new();
    if of.has("deletecollection") {
        let id = format!("delete{}Collection{}{}", of.group_version, of.scope, of.resource.kind);
        let action = ("delete", "deletecollection");
        let mut delete = of.operation(action, id, Content::Status, &["200"]);
        delete.body = Some(Content::DeleteOptions);
        delete.parameters = [SELECT, DELETE].concat();
        operations.push(delete);
    }
    if of.has("list") {
        operations.push(of.list(of.id("list", "")));
    }
    if of.has("create") {
        let codes = &["200", "201", "202"];
        let mut create = of.operation(("post", "post"), of.id("create", ""), Content::Kind, codes);
        create.body = Some(Content::Kind);
        create.parameters = WRITE.to_vec();
        operations.push(create);
    }
    operations
}

fn single(of: &Naming<'_>, sub: Option<&Subresource>) -> Vec<Operation> {
    let verbs = sub.map_or(&of.resource.verbs, |sub| &sub.verbs);
    let what = sub.map(|sub| capital(&sub.name)).unwrap_or_default();
    let connects = sub.is_some_and(|sub| sub.kind.ends_with("Options"));
    let mut operations = Vec::new();
    for verb in verbs {
        let (method, action, id, answer, codes): (_, _, _, _, &'static [&'static str]) =
            match verb.as_str() {
                "delete" => ("delete", "delete", "delete", Content::Status, &["200", "202"]),
                "get" => ("get", "get", "read", Content::Kind, &["200"]),
                "patch" => ("patch", "patch", "patch", Content::Kind, &["200", "201"]),
                "update" => ("put", "put", "replace", Content::Kind, &["200", "201"]),
                "create" if sub.is_some() => {
                    ("post", "post", "create", Content::Kind, &["200", "201", "202"])
                }
                _ => continue,
            };
        let mut operation = if connects {
            let id = format!("connect{}{}{}", of.group_version, capital(method), of.scope);
            let id = format!("{id}{}{what}", of.resource.kind);
            of.operation((method, "connect"), id, Content::Text, &["200"])
        } else {
            of.operation((method, action), of.id(id, &what), answer, codes)
        };
        if let Some(sub) = sub {
            operation.kind = [sub.group.clone(), sub.version.clone(), sub.kind.clone()];
            if sub.name == "log" {
                operation.answer = Content::Text;
            }
        }
        if !connects {
            (operation.body, operation.parameters) = match action {
                "delete" => (Some(Content::DeleteOptions), DELETE.to_vec()),
                "patch" => (Some(Content::Patch), [WRITE, &[FORCE]].concat()),
                "put" | "post" => (Some(Content::Kind), WRITE.to_vec()),
                _ => (None, Vec::new()),
            };
        }
        operations.push(operation);
    }
    operations
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

fn uncapital(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}
