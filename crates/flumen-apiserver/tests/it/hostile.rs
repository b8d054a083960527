//! Requests that nobody should send: refused as the real server refuses them, and nothing is lost.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::real::{Answers, Both};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// What clients act on. Words are not compared: many are those of a Go library.
fn acted_on(answer: &(u16, Value)) -> Value {
    let (status, body) = answer;
    let causes = body["details"]["causes"].as_array().into_iter().flatten();
    let causes: Vec<_> =
        causes.map(|cause| (cause["reason"].clone(), cause["field"].clone())).collect();
    json!([status, body["kind"], body["reason"], causes])
}

struct Trial {
    both: Both,
    differences: String,
    asked: usize,
}

impl Trial {
    async fn start() -> Option<Self> {
        let both = Both::start().await?;
        Some(Self { both, differences: String::new(), asked: 0 })
    }

    async fn ask(&mut self, method: &str, path: &str, media: &str, body: &[u8]) -> Answers {
        let media = format!("Content-Type: {media}");
        let headers: &[&str] = if body.is_empty() { &[] } else { &[&media] };
        self.both.ask(method, path, headers, body).await
    }

    /// Both refuse it in the same way.
    async fn check(&mut self, method: &str, path: &str, media: &str, body: &[u8]) {
        let answers = self.ask(method, path, media, body).await;
        self.asked += 1;
        if acted_on(&answers.ours) != acted_on(&answers.theirs) {
            let text: String = String::from_utf8_lossy(body).chars().take(80).collect();
            let [ours, theirs] = [&answers.ours, &answers.theirs]
                .map(|it| format!("{} {}", acted_on(it), it.1["message"]));
            let _ = write!(self.differences, "{method} {path} {text}\n  {ours}\n  {theirs}\n");
        }
    }

    /// # Panics
    /// With all differences, or when the server has gone.
    async fn end(self) {
        assert!(self.differences.is_empty(), "of {}:\n{}", self.asked, self.differences);
        assert_eq!(self.both.ours.get("/readyz").await.status, 200);
    }
}

fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}})
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies() {
    let Some(mut trial) = Trial::start().await else { return };
    let texts = [
        "{",
        "[]",
        "null",
        "1",
        "\"text\"",
        "\0",
        "{}x",
        "{} {}",
        "{\"metadata\":1}",
        "{\"metadata\":[]}",
        "{\"data\":{\"a\":1}}",
        "{\"data\":[]}",
        "{\"kind\":1}",
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}",
        "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v2\"}",
        "{\"kind\":\"ConfigMap\",\"apiVersion\":\"a/b/c\"}",
        "{\"metadata\":{\"name\":\"A B\"}}",
        "{\"metadata\":{\"name\":\"..\"}}",
        "{\"metadata\":{\"name\":\"a/b\"}}",
        "{\"metadata\":{\"name\":\"x\",\"namespace\":\"other\"}}",
        "{\"metadata\":{\"generateName\":\"A_\"}}",
        "{\"metadata\":{\"name\":\"x\",\"labels\":{\"a b\":\"c\"}}}",
        "{\"metadata\":{\"name\":\"x\",\"uid\":1}}",
        "{\"metadata\":{\"name\":\"x\",\"finalizers\":[\"none\"]}}",
        "{\"metadata\":{\"name\":\"x\",\"ownerReferences\":[{}]}}",
        "{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"name\":\"x\",\"creationTimestamp\":\"yesterday\"}}",
    ];
    for text in texts {
        trial.check("POST", MAPS, JSON, text.as_bytes()).await;
    }
    for text in [
        "a: [",
        "\ta: 1",
        "- a\n- b",
        "a: *none",
        "!!binary a",
        "{}\n---\n{}",
        "metadata: {name: [x]}",
    ] {
        trial.check("POST", MAPS, YAML, text.as_bytes()).await;
    }
    for bytes in
        [&b""[..], b"k8s", b"k8s\0\xff", b"k8s\0\n\x01", b"k8s\0\x12\x05hello", b"{}", b"k9s\0\n\0"]
    {
        trial.check("POST", MAPS, PROTOBUF, bytes).await;
    }
    let secrets = "/api/v1/namespaces/default/secrets";
    trial.check("POST", secrets, JSON, br#"{"metadata":{"name":"x"},"data":{"a":"***"}}"#).await;
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    for spec in [
        "{\"replicas\":1.5}",
        "{\"replicas\":1e99}",
        "{\"replicas\":\"1\"}",
        "{\"replicas\":-1}",
        "[]",
    ] {
        let body = format!("{{\"metadata\":{{\"name\":\"x\"}},\"spec\":{spec}}}");
        trial.check("POST", deployments, JSON, body.as_bytes()).await;
    }
    let deep = format!("{{\"data\":{}{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    trial.check("POST", MAPS, JSON, deep.as_bytes()).await;
    trial.check("POST", MAPS, YAML, deep.as_bytes()).await;
    trial.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn patches() {
    let Some(mut trial) = Trial::start().await else { return };
    trial.both.create(MAPS, &map("patched")).await;
    let place = format!("{MAPS}/patched");
    let texts = [
        "{",
        "{}",
        "null",
        "[1]",
        "[{}]",
        r#"[{"op":"nope","path":"/a"}]"#,
        r#"[{"op":"add","path":"a"}]"#,
        r#"[{"op":"remove","path":"/data/none"}]"#,
        r#"[{"op":"test","path":"/data/a","value":"2"}]"#,
        r#"[{"op":"replace","path":"/none/none","value":1}]"#,
        r#"[{"op":"copy","from":"/none","path":"/data/b"}]"#,
        r#"[{"op":"move","from":"/data/a","path":"/data"}]"#,
        r#"[{"op":"add","path":"/data/-","value":{}}]"#,
        r#"[{"op":"replace","path":"/metadata/name","value":"other"}]"#,
        r#"[{"op":"replace","path":"/kind","value":"Pod"}]"#,
        r#"[{"op":"remove","path":""}]"#,
    ];
    for text in texts {
        trial.check("PATCH", &place, JSON_PATCH, text.as_bytes()).await;
    }
    let copies = vec![json!({"op": "copy", "from": "/data", "path": "/data/x"}); 10_001];
    trial.check("PATCH", &place, JSON_PATCH, Value::from(copies).to_string().as_bytes()).await;
    for media in [MERGE, STRATEGIC] {
        let texts = [
            "{",
            "[]",
            "1",
            "null",
            r#"{"data":[]}"#,
            r#"{"data":{"a":{}}}"#,
            r#"{"metadata":{"name":"b"}}"#,
            r#"{"metadata":{"uid":"b"}}"#,
            r#"{"metadata":{"resourceVersion":"1"}}"#,
            r#"{"kind":"Pod"}"#,
            r#"{"metadata":{"labels":{"a":"b c"}}}"#,
            r#"{"$patch":"nope"}"#,
            r#"{"metadata":null}"#,
        ];
        for text in texts {
            trial.check("PATCH", &place, media, text.as_bytes()).await;
        }
    }
    let apply = format!("{place}?fieldManager=m");
    let texts = [
        "{",
        "[]",
        "1",
        "{}",
        "apiVersion: v1",
        "apiVersion: v2\nkind: ConfigMap",
        "apiVersion: v1\nkind: Pod",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {managedFields: [{manager: m}]}",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {resourceVersion: '1'}",
        "apiVersion: v1\nkind: ConfigMap\ndata: {a: 1}",
        "apiVersion: v1\nkind: ConfigMap\nnone: 1",
    ];
    for text in texts {
        trial.check("PATCH", &apply, APPLY, text.as_bytes()).await;
    }
    trial.check("PATCH", &place, APPLY, b"apiVersion: v1\nkind: ConfigMap").await;
    trial.check("PATCH", &format!("{apply}&force=nope"), APPLY, b"{}").await;
    trial.check("PATCH", &format!("{place}?force=true"), MERGE, b"{}").await;
    trial.check("PATCH", &place, "application/xml", b"<a/>").await;
    let left = trial.ask("GET", &place, JSON, b"").await;
    assert_eq!(left.ours.1["data"], left.theirs.1["data"]);
    trial.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn managed_fields_that_lie() {
    let Some(mut trial) = Trial::start().await else { return };
    let entry = |fields: Value| {
        json!([{"manager": "liar", "operation": "Apply", "apiVersion": "v1", "time": "2099-01-01T00:00:00Z",
                "fieldsType": "FieldsV1", "fieldsV1": fields}])
    };
    let mut lies = vec![
        json!(1),
        json!([1]),
        json!([{"manager": "liar"}]),
        json!([{"operation": "Nope", "fieldsType": "FieldsV1"}]),
        json!([{"operation": "Update", "fieldsType": "FieldsV9"}]),
        json!([{"operation": "Update", "apiVersion": "none/v1", "fieldsType": "FieldsV1", "fieldsV1": {}}]),
        json!([{"operation": "Update", "fieldsType": "FieldsV1", "subresource": "x".repeat(300)}]),
        json!([{"operation": "Update", "fieldsType": "FieldsV1", "manager": "x".repeat(300)}]),
    ];
    for fields in [
        json!([]),
        json!("text"),
        json!({"data": {}}),
        json!({"f:data": 1}),
        json!({"x:data": {}}),
        json!({"k:{": {}}),
        json!({"k:{\"name\":1}": {}}),
        json!({"v:nope": {}}),
        json!({"i:x": {}}),
        json!({"f:data": {"f:a": {"f:deeper": {"f:still": {}}}}}),
        json!({"f:none": {}, "f:metadata": {"f:uid": {}}}),
    ] {
        lies.push(entry(fields));
    }
    for (number, lie) in lies.iter().enumerate() {
        let mut object = map(&format!("lie-{number}"));
        object["metadata"]["managedFields"] = lie.clone();
        trial.check("POST", MAPS, JSON, object.to_string().as_bytes()).await;
        let mut truth = map(&format!("truth-{number}"));
        trial.both.create(MAPS, &truth).await;
        let place = format!("{MAPS}/truth-{number}");
        truth["metadata"]["managedFields"] = lie.clone();
        trial.check("PUT", &place, JSON, truth.to_string().as_bytes()).await;
        let config = format!("apiVersion: v1\nkind: ConfigMap\ndata: {{a: '{number}'}}");
        trial.check("PATCH", &format!("{place}?fieldManager=m"), APPLY, config.as_bytes()).await;
    }
    trial.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn queries() {
    let Some(mut trial) = Trial::start().await else { return };
    let queries = [
        "labelSelector=a%20in",
        "labelSelector=%3D",
        "labelSelector=a%3D%3Db%3D%3Dc",
        "labelSelector=%21",
        "labelSelector=a%20in%20%28b",
        "labelSelector=a%20notin%20b",
        "labelSelector=a%3Db%20c",
        "labelSelector=a%2Fb%2Fc",
        "labelSelector=a%3E%3D1",
        "labelSelector=a%3Ex",
        "fieldSelector=a",
        "fieldSelector=none%3D1",
        "fieldSelector=metadata.name%3Ea",
        "fieldSelector=%5C",
        "limit=-1",
        "limit=x",
        "limit=99999999999999999999",
        "continue=nope",
        "continue=e30",
        "resourceVersion=x",
        "resourceVersion=-1",
        "resourceVersion=18446744073709551616",
        "resourceVersion=99999999",
        "resourceVersionMatch=Nope",
        "resourceVersionMatch=Exact",
        "resourceVersion=0&resourceVersionMatch=Exact",
        "watch=1&resourceVersion=x",
        "watch=1&sendInitialEvents=true&timeoutSeconds=1",
        "watch=1&timeoutSeconds=1&allowWatchBookmarks=x",
        "watch=1&labelSelector=a%20in",
        "watch=1&fieldSelector=none%3D1",
        "sendInitialEvents=true",
        "watch=nope&limit=x&timeoutSeconds=1",
        "timeoutSeconds=x",
        "allowWatchBookmarks=x",
        "limit=1&continue=a%00b",
    ];
    for query in queries {
        trial.check("GET", &format!("{MAPS}?{query}"), JSON, b"").await;
    }
    let body = map("x").to_string();
    for query in [
        "dryRun=nope",
        "dryRun=All&dryRun=nope",
        "fieldValidation=nope",
        "fieldManager=%00",
        "fieldManager=%C3%A4%07",
    ] {
        trial.check("POST", &format!("{MAPS}?{query}"), JSON, body.as_bytes()).await;
    }
    let long = "m".repeat(129);
    trial.check("POST", &format!("{MAPS}?fieldManager={long}"), JSON, body.as_bytes()).await;
    trial.both.create(MAPS, &map("kept")).await;
    let place = format!("{MAPS}/kept");
    let options = [
        "{",
        "[]",
        "1",
        r#"{"propagationPolicy":"Nope"}"#,
        r#"{"propagationPolicy":"Orphan","orphanDependents":true}"#,
        r#"{"gracePeriodSeconds":"x"}"#,
        r#"{"preconditions":{"uid":"other"}}"#,
        r#"{"preconditions":{"resourceVersion":"1"}}"#,
        r#"{"kind":"Pod","apiVersion":"v1"}"#,
        r#"{"dryRun":["nope"]}"#,
    ];
    for option in options {
        trial.check("DELETE", &place, JSON, option.as_bytes()).await;
    }
    for query in
        ["propagationPolicy=Nope", "gracePeriodSeconds=x", "dryRun=nope", "orphanDependents=x"]
    {
        trial.check("DELETE", &format!("{place}?{query}"), JSON, b"").await;
    }
    trial.check("DELETE", &format!("{MAPS}?labelSelector=a%20in"), JSON, b"").await;
    trial.check("GET", &format!("{place}/"), JSON, b"").await;
    assert_eq!(trial.both.ours.get(&place).await.status, 200, "nothing was deleted");
    trial.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_that_explode() {
    let Some(mut trial) = Trial::start().await else { return };
    let definition = |name: &str, schema: &Value| {
        json!({
            "metadata": {"name": format!("{name}s.hostile.example.com")},
            "spec": {
                "group": "hostile.example.com", "scope": "Cluster",
                "names": {"plural": format!("{name}s"), "kind": name},
                "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}}],
            },
        })
    };
    let nested = |levels: usize, wrap: &dyn Fn(Value) -> Value, inner: Value| {
        (0..levels).fold(inner, |value, _| wrap(value))
    };
    let rules =
        |rules: &[&str]| rules.iter().map(|rule| json!({ "rule": rule })).collect::<Value>();
    let numbers = json!({"type": "array", "items": {"type": "integer"}});
    let with = |schema: &Value, texts: &[&str]| {
        let mut schema = schema.clone();
        schema["x-kubernetes-validations"] = rules(texts);
        schema
    };
    let text = json!({"type": "string"});
    let schemas = [
        nested(40, &|it| json!({"type": "object", "properties": {"a": it}}), text.clone()),
        nested(7, &|it| json!({"type": "string", "anyOf": vec![it; 4]}), json!({"minLength": 1})),
        nested(20, &|it| json!({"type": "string", "not": it}), json!({"minLength": 1})),
        nested(
            12,
            &|it| json!({"type": "array", "items": it}),
            with(&text, &["self.matches('(a+)+$')"]),
        ),
        with(&numbers, &["self.all(a, self.all(b, self.all(c, a + b + c != 0)))"]),
        with(
            &numbers,
            &["self.all(a, self.all(b, self.all(c, self.all(d, true))))", "self.exists(a, a > 1)"],
        ),
        with(
            &text,
            &[
                "self.contains(self)",
                "self + self + self + self == ''",
                "self.split('').size() > 0",
            ],
        ),
        with(&text, &["self.matches('[')", "nope", "self.nope()", "1", "self ==", ""]),
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": rules(&["self.a"])}),
        json!({"$ref": "#/definitions/self"}),
        json!({"type": "nope"}),
        json!({"type": "string", "pattern": "("}),
        json!({"type": "array"}),
        json!({"type": "object", "additionalProperties": true, "properties": {"a": text}}),
    ];
    for (number, schema) in schemas.iter().enumerate() {
        let body = definition(&format!("bomb{number}"), schema).to_string();
        trial.check("POST", DEFINITIONS, JSON, body.as_bytes()).await;
    }
    trial.end().await;
}
