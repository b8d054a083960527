//! Sequences of operations that a seed decides.

use flumen_testkit::Random;
use serde_json::{Value, json};

use super::{
    kinds::{Kind, NAMES},
    manifest::{add, fields, head, intent, mistake, odd, status, whole},
    normal::GENERATED,
    operation::{Body, Operation},
    patches::{APPLY, MERGE, patch},
};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const METADATA: &str =
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
const METADATA_LIST: &str =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
const MANAGERS: [&str; 4] = ["alpha", "beta", "gamma", "kubectl"];
/// The object whose creation ends watches; it sorts after the others.
const LAST: &str = "zz-last";

struct Generator<'a> {
    random: Random,
    kind: &'a Kind,
    version: &'static str,
    serial: usize,
}

/// The operations of a seed.
pub(crate) fn sequence(seed: u64, kinds: &[Kind]) -> Vec<Operation> {
    let mut random = Random::new(seed);
    let custom: Vec<&Kind> = kinds.iter().filter(|kind| kind.is_custom()).collect();
    let chosen: Vec<&Kind> = (0..=random.below(2))
        .map(|_| if random.one_in(5) { *random.pick(&custom) } else { random.pick(kinds) })
        .collect();
    let version = chosen[0].versions[0];
    let mut generator = Generator { random, kind: chosen[0], version, serial: 0 };
    let mut operations = Vec::new();
    for kind in &chosen {
        generator.turn_to(kind);
        operations.push(generator.first_list());
    }
    for _ in 0..6 + generator.random.below(16) {
        let kind = *generator.random.pick(&chosen);
        generator.turn_to(kind);
        operations.push(generator.operation());
    }
    for kind in chosen.iter().filter(|kind| !kind.is_dry()) {
        generator.turn_to(kind);
        operations.extend(generator.watch());
    }
    operations
}

impl<'a> Generator<'a> {
    fn turn_to(&mut self, kind: &'a Kind) {
        self.kind = kind;
        let usual = !self.random.one_in(4);
        self.version = if usual { kind.versions[0] } else { *self.random.pick(&kind.versions) };
    }

    fn collection(&self) -> String {
        self.kind.collection(self.version)
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{}", self.collection(), self.kind.name_of(name))
    }

    fn operation(&mut self) -> Operation {
        let name = *self.random.pick(&NAMES);
        match self.random.below(100) {
            0..=15 => self.create(name),
            16..=19 if !self.kind.is_dry() => self.generate(),
            20..=44 => self.apply(name),
            45..=56 => self.update(name),
            57..=73 => self.patch(name),
            74..=80 => self.delete(name),
            81..=82 if !self.kind.is_dry() => self.delete_collection(),
            83..=90 => self.get(name),
            _ => self.list(),
        }
    }

    fn create(&mut self, name: &str) -> Operation {
        let manifest = whole(&mut self.random, self.kind, self.version, name);
        let operation = Operation::new("POST", self.collection()).with_json(&manifest);
        self.write_options(operation)
    }

    fn generate(&mut self) -> Operation {
        self.serial += 1;
        let mut manifest = whole(&mut self.random, self.kind, self.version, "unused");
        let prefix = self.kind.name_of(&format!("{GENERATED}{}-", self.serial));
        if let Some(Value::Object(metadata)) = manifest.get_mut("metadata") {
            metadata.remove("name");
            metadata.insert("generateName".to_owned(), prefix.into());
        }
        let operation = Operation::new("POST", self.collection()).with_json(&manifest);
        self.write_options(operation)
    }

    fn is_dry_run(&mut self) -> bool {
        self.random.one_in(10) || self.kind.is_dry()
    }

    fn write_options(&mut self, mut operation: Operation) -> Operation {
        if self.is_dry_run() {
            operation = operation.with("dryRun", "All");
        }
        if self.random.one_in(3) {
            operation = operation.with("fieldManager", *self.random.pick(&MANAGERS));
        }
        if self.random.one_in(4) {
            let level = *self.random.pick(&["Strict", "Warn", "Ignore", "Never"]);
            operation = operation.with("fieldValidation", level);
        }
        if self.random.one_in(6) {
            operation.accept = Some(*self.random.pick(&[TABLE, METADATA]));
        }
        operation
    }

    fn apply(&mut self, name: &str) -> Operation {
        let (part, mut body) = match self.random.below(6) {
            0 if self.kind.has_status => {
                let mut body = head(self.kind, self.version, name);
                add(&mut body, status(&mut self.random, self.kind));
                ("/status", body)
            }
            1 if self.kind.has_scale => ("/scale", self.scale(name)),
            _ => ("", intent(&mut self.random, self.kind, self.version, name)),
        };
        if self.random.one_in(20) {
            mistake(&mut self.random, &mut body);
        }
        if self.random.one_in(15) {
            let version = format!("${{rv:{}}}", self.path(name));
            body["metadata"]["resourceVersion"] = version.into();
        }
        let operation = Operation::new("PATCH", format!("{}{part}", self.path(name)))
            .with_body(APPLY, Body::Text(body.to_string()));
        let mut operation = if self.random.one_in(30) {
            operation
        } else {
            operation.with("fieldManager", *self.random.pick(&MANAGERS))
        };
        if self.random.one_in(3) {
            operation = operation.with("force", "true");
        }
        if self.is_dry_run() {
            operation = operation.with("dryRun", "All");
        }
        operation
    }

    fn scale(&mut self, name: &str) -> Value {
        let replicas = self.random.below(4);
        json!({
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": { "name": self.kind.name_of(name), "namespace": "${NS}" },
            "spec": { "replicas": replicas },
        })
    }

    fn update(&mut self, name: &str) -> Operation {
        let path = self.path(name);
        let mut part = "";
        let body = match self.random.below(8) {
            0 | 1 => {
                let manifest = whole(&mut self.random, self.kind, self.version, name);
                Body::Text(manifest.to_string())
            }
            2 if self.kind.has_status => {
                part = "/status";
                Body::Seen { path: path.clone(), change: status(&mut self.random, self.kind) }
            }
            3 if self.kind.has_scale => {
                part = "/scale";
                Body::Text(self.scale(name).to_string())
            }
            4 => {
                let mut change = fields(&mut self.random, self.kind);
                let field = *self.random.pick(&[
                    "resourceVersion",
                    "uid",
                    "creationTimestamp",
                    "managedFields",
                ]);
                change["metadata"][field] =
                    if self.random.one_in(2) { Value::Null } else { odd(&mut self.random) };
                Body::Seen { path: path.clone(), change }
            }
            _ => Body::Seen { path: path.clone(), change: fields(&mut self.random, self.kind) },
        };
        let operation =
            Operation::new("PUT", format!("{path}{part}")).with_body("application/json", body);
        self.write_options(operation)
    }

    fn patch(&mut self, name: &str) -> Operation {
        let path = self.path(name);
        let (part, media, text) = match self.random.below(8) {
            0 if self.kind.has_status => {
                ("/status", MERGE, status(&mut self.random, self.kind).to_string())
            }
            1 if self.kind.has_scale => {
                let replicas = self.random.below(4);
                ("/scale", MERGE, json!({ "spec": { "replicas": replicas } }).to_string())
            }
            _ => {
                let (media, text) = patch(&mut self.random, self.kind);
                ("", media, text)
            }
        };
        let operation =
            Operation::new("PATCH", format!("{path}{part}")).with_body(media, Body::Text(text));
        self.write_options(operation)
    }

    fn delete(&mut self, name: &str) -> Operation {
        let path = self.path(name);
        let mut options = json!({});
        if self.random.one_in(3) {
            let policy = *self.random.pick(&["Background", "Foreground", "Orphan", "Wrong"]);
            options["propagationPolicy"] = policy.into();
        }
        match self.random.below(10) {
            0 => options["preconditions"] = json!({ "uid": format!("${{uid:{path}}}") }),
            1 => options["preconditions"] = json!({ "resourceVersion": format!("${{rv:{path}}}") }),
            2 => {
                options["preconditions"] = json!({ "uid": "11111111-1111-1111-1111-111111111111" });
            }
            3 => options["preconditions"] = json!({ "resourceVersion": "1" }),
            4 => options["gracePeriodSeconds"] = json!(0),
            5 => options["orphanDependents"] = json!(true),
            6 => options["dryRun"] = json!(["All"]),
            _ => {}
        }
        if self.kind.is_dry() {
            options["dryRun"] = json!(["All"]);
        }
        let operation = Operation::new("DELETE", path);
        if options == json!({}) { operation } else { operation.with_json(&options) }
    }

    fn delete_collection(&mut self) -> Operation {
        let operation = Operation::new("DELETE", self.collection());
        if self.kind.namespaced && self.random.one_in(2) {
            return operation;
        }
        let selector = if self.kind.namespaced { "tier=a" } else { "run=${NS},tier=a" };
        operation.with("labelSelector", selector)
    }

    fn get(&mut self, name: &str) -> Operation {
        let name = match (self.serial, self.random.one_in(4)) {
            (1.., true) => {
                let prefix = self.kind.name_of(&format!("{GENERATED}{}-", self.serial));
                format!("${{name:{prefix}}}")
            }
            _ => self.kind.name_of(name),
        };
        let part = match self.random.below(8) {
            0 if self.kind.has_status => "/status",
            1 if self.kind.has_scale => "/scale",
            _ => "",
        };
        let mut operation = Operation::new("GET", format!("{}/{name}{part}", self.collection()));
        operation.accept = *self.random.pick(&[None, None, Some(TABLE), Some(METADATA)]);
        operation
    }

    /// Says the version from which a watch begins.
    fn first_list(&mut self) -> Operation {
        self.private(Operation::new("GET", self.kind.collection(self.kind.versions[0])), "")
    }

    /// Objects without a namespace are told apart by their label.
    fn private(&self, operation: Operation, selector: &str) -> Operation {
        match (self.kind.namespaced, selector) {
            (true, "") => operation,
            (true, _) => operation.with("labelSelector", selector),
            (false, "") => operation.with("labelSelector", "run=${NS}"),
            (false, _) => operation.with("labelSelector", format!("run=${{NS}},{selector}")),
        }
    }

    fn list(&mut self) -> Operation {
        const LABELS: [&str; 7] =
            ["tier=a", "tier!=a", "tier in (a,b)", "!tier", "tier", "tier notin (b),app", "a=b=c"];
        let labels = if self.random.one_in(2) { *self.random.pick(&LABELS) } else { "" };
        let mut operation = self.private(Operation::new("GET", self.collection()), labels);
        if self.random.one_in(4) {
            let own = self.kind.selectors.iter().copied();
            let all: Vec<&str> =
                own.chain(["metadata.name=a", "metadata.name!=a", "spec.nope=1", "=x"]).collect();
            operation = operation.with("fieldSelector", *self.random.pick(&all));
        }
        match self.random.below(6) {
            // Objects of other sequences may follow, and a server may say so.
            _ if !self.kind.namespaced => {}
            0 => operation = operation.with("limit", "1"),
            1 => {
                let token = format!("${{continue:{}}}", self.collection());
                operation = operation.with("limit", "1").with("continue", token);
            }
            2 => {
                let version = format!("${{start:{}}}", self.collection());
                let exact = operation.with("resourceVersionMatch", "Exact");
                operation = exact.with("resourceVersion", version);
            }
            _ => {}
        }
        operation.accept = *self.random.pick(&[None, None, Some(TABLE), Some(METADATA_LIST)]);
        operation
    }

    /// What happened since the beginning, until an object that is made for that.
    fn watch(&mut self) -> [Operation; 2] {
        let (kind, version) = (self.kind, self.kind.versions[0]);
        let mut last = head(kind, version, LAST);
        add(&mut last, kind.base.clone());
        add(&mut last, json!({ "metadata": { "labels": { "tier": "a" } } }));
        let collection = kind.collection(version);
        let create = Operation::new("POST", collection.clone()).with_json(&last);
        let selector = if self.random.one_in(3) { "tier=a" } else { "" };
        let mut watch = self.private(Operation::new("GET", collection.clone()), selector);
        watch =
            watch.with("watch", "true").with("resourceVersion", format!("${{start:{collection}}}"));
        watch.accept = *self.random.pick(&[None, None, Some(TABLE), Some(METADATA)]);
        watch.until = Some(format!("{collection}/{}", kind.name_of(LAST)));
        [create, watch]
    }
}
