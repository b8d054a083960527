//! Flux's kinds as an API server serves them from our definitions.

use std::fs;

use flumen_api::{
    ConditionStatus, Conditions, ExternalArtifact, GitRepository, Kind, Kustomization,
    OciRepository, READY, condition, definitions, read, set_condition, write,
};
use flumen_testkit::KubeCluster;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

struct Fixture {
    cluster: KubeCluster,
    namespace: String,
    files: TempDir,
}

impl Fixture {
    /// A cluster of its own, because definitions have no namespace.
    fn start() -> Option<Self> {
        let cluster = KubeCluster::start()?;
        let namespace = cluster.fresh_namespace();
        let fixture = Self { cluster, namespace, files: tempfile::tempdir().expect("a directory") };
        for definition in definitions() {
            let file = fixture.file(definition);
            fixture.kubectl(&["apply", "--server-side", "--filename", &file]);
            fixture.kubectl(&["wait", "--for=condition=Established", "--filename", &file]);
        }
        Some(fixture)
    }

    fn file(&self, content: &str) -> String {
        let path = self.files.path().join("object.json");
        fs::write(&path, content).expect("a file");
        path.display().to_string()
    }

    #[track_caller]
    fn kubectl(&self, arguments: &[&str]) -> String {
        let namespace = format!("--namespace={}", self.namespace);
        let arguments: Vec<&str> =
            [&*namespace].into_iter().chain(arguments.iter().copied()).collect();
        let outcome = self.cluster.kubectl(&arguments);
        assert!(outcome.succeeded(), "{arguments:?}: {}", outcome.stderr);
        String::from_utf8(outcome.stdout).expect("text")
    }

    fn get<K: Kind>(&self) -> K {
        let resource = format!("{}.{}", K::PLURAL, K::GROUP);
        let text = self.kubectl(&["get", &resource, "one", "--output=json"]);
        read(&serde_json::from_str(&text).expect("JSON")).expect("the object is well-formed")
    }

    /// Creates an object, says in its status that it is ready, and compares how it is listed, whatever its age.
    #[track_caller]
    fn check<K: Conditions>(&self, short_name: &str, spec: &Value, columns: &[&str], row: &[&str]) {
        let object: K =
            read(&json!({"metadata": {"name": "one"}, "spec": spec})).expect("an object");
        let text = write(&object).expect("JSON").to_string();
        self.kubectl(&["create", "--filename", &self.file(&text)]);
        let mut created: K = self.get();
        let created_spec = &write(&created).expect("JSON")["spec"];
        for (key, value) in spec.as_object().expect("fields") {
            assert_eq!(&created_spec[key], value, "{key}");
        }

        set_condition(
            &mut created,
            READY,
            ConditionStatus::True,
            "Succeeded",
            "all is well",
            now(),
        );
        let status = json!({"status": write(&created).expect("JSON")["status"]}).to_string();
        let resource = format!("{}.{}", K::PLURAL, K::GROUP);
        self.kubectl(&[
            "patch",
            &resource,
            "one",
            "--subresource=status",
            "--type=merge",
            "--patch",
            &status,
        ]);
        assert_eq!(condition(&self.get::<K>(), READY), condition(&created, READY));

        let listed = self.kubectl(&["get", short_name]);
        let mut lines = listed.lines();
        let cells = |line: &str| -> Vec<String> {
            line.split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let found = cells(lines.next().expect("a header"));
        assert_eq!(found, columns);
        let age = found.iter().position(|column| column == "AGE");
        let mut found = cells(lines.next().expect("a row"));
        found.remove(age.expect("an age"));
        assert_eq!(found, row);
    }
}

fn now() -> Timestamp {
    Timestamp::from_second(1_735_689_600).expect("a time")
}

#[test]
fn every_kind_is_served_and_listed_as_flux_lists_it() {
    let Some(fixture) = Fixture::start() else { return };
    fixture.check::<Kustomization>(
        "ks",
        &json!({
            "interval": "10m0s",
            "prune": true,
            "sourceRef": {"kind": "OCIRepository", "name": "one"},
            "dependsOn": [{"name": "db", "apiVersion": "apps/v1", "kind": "StatefulSet", "ready": true}],
        }),
        &["NAME", "AGE", "READY", "STATUS"],
        &["one", "True", "all is well"],
    );
    fixture.check::<GitRepository>(
        "gitrepo",
        &json!({"url": "https://git.example.com/one", "interval": "1m0s", "timeout": "1m0s"}),
        &["NAME", "URL", "AGE", "READY", "STATUS"],
        &["one", "https://git.example.com/one", "True", "all is well"],
    );
    fixture.check::<OciRepository>(
        "ocirepo",
        &json!({"url": "oci://registry.example.com/one", "interval": "1m0s"}),
        &["NAME", "URL", "READY", "STATUS", "AGE"],
        &["one", "oci://registry.example.com/one", "True", "all is well"],
    );
    fixture.check::<ExternalArtifact>(
        "ea",
        &json!({"sourceRef": {"kind": "Generator", "name": "two"}}),
        &["NAME", "AGE", "READY", "STATUS", "SOURCE"],
        &["one", "True", "all is well", "two"],
    );
}

#[test]
fn what_flux_refuses_is_refused_and_what_it_defaults_is_defaulted() {
    let Some(fixture) = Fixture::start() else { return };
    let refused = |object: Value, why: &str| {
        let file = fixture.file(&object.to_string());
        let outcome = fixture.cluster.kubectl(&["create", "--filename", &file]);
        assert!(!outcome.succeeded() && outcome.stderr.contains(why), "{}", outcome.stderr);
    };
    let kustomization = |more: Value| {
        let mut object = json!({
            "apiVersion": Kustomization::api_version(),
            "kind": Kustomization::KIND,
            "metadata": {"name": "one", "namespace": &fixture.namespace},
            "spec": {"interval": "1m", "prune": true, "sourceRef": {"kind": "Bucket", "name": "a"}},
        });
        for (key, value) in more.as_object().expect("fields") {
            object["spec"][key] = value.clone();
        }
        object
    };
    refused(kustomization(json!({"interval": "soon"})), "spec.interval");
    refused(
        kustomization(json!({"sourceRef": {"kind": "HelmChart", "name": "a"}})),
        "spec.sourceRef.kind",
    );
    refused(
        kustomization(json!({"kubeConfig": {}})),
        "exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified",
    );
    fixture.kubectl(&[
        "create",
        "--filename",
        &fixture.file(&kustomization(json!({})).to_string()),
    ]);
    let created: Kustomization = fixture.get();
    assert_eq!(created.status.observed_generation, -1, "nobody has looked at it");
    assert_eq!(created.metadata.generation, 1);
}
