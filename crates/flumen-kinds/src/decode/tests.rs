use flumen_schema::api::{Api, ApiKind};
use serde_json::{Value, json};

use super::{Media, Target, decode, decode_value};

fn kind(group: &str, kind: &str) -> &'static ApiKind {
    Api::get().kind(group, "v1", kind).expect("is served")
}

/// The object of a body, and what was strange about it.
#[track_caller]
fn decoded(of: &ApiKind, body: &str) -> (Value, Vec<String>) {
    let decoded = decode(body.as_bytes(), Media::Json, &Target::from(of)).expect("decodes");
    let strict = decoded.strict.warnings().map(str::to_owned).collect();
    (decoded.object, strict)
}

#[track_caller]
fn refused(of: &ApiKind, body: &str, expected: &str) {
    let error = decode(body.as_bytes(), Media::Json, &Target::from(of)).expect_err("is refused");
    assert_eq!(error.to_string(), expected, "{body}");
}

/// What the decoder says of a deployment, after what the handler puts before it.
#[track_caller]
fn refused_deployment(spec: &str, expected: &str) {
    let prefix = "Deployment in version \"v1\" cannot be handled as a Deployment: ";
    let body = format!("{{\"spec\":{spec}}}");
    refused(kind("apps", "Deployment"), &body, &format!("{prefix}{expected}"));
}

#[test]
fn what_is_printed_in_any_case_is_there() {
    let (object, strict) = decoded(kind("apps", "Deployment"), "{}");
    assert_eq!(
        object,
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {},
            "spec": {
                "selector": null,
                "strategy": {},
                "template": { "metadata": {}, "spec": { "containers": null } },
            },
            "status": {},
        })
    );
    assert!(strict.is_empty());
}

#[test]
fn null_is_nothing_but_empty_texts_in_maps_are_something() {
    let body = r#"{"metadata":{"name":null,"labels":null,"creationTimestamp":null,"annotations":{"a":null}},
        "data":{"k":null},"binaryData":{"b":null},"immutable":null}"#;
    let (object, _) = decoded(kind("", "ConfigMap"), body);
    assert_eq!(
        object,
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": { "annotations": { "a": "" } },
            "data": { "k": "" },
            "binaryData": { "b": "" },
        })
    );
}

#[test]
fn empty_values_vanish_and_pointers_keep_them() {
    let spec = r#"{"spec":{"replicas":0,"paused":false,"minReadySeconds":0,"selector":{},
        "template":{"metadata":{"labels":{}},"spec":{"containers":[],"volumes":[],"hostNetwork":false,
        "automountServiceAccountToken":false,"terminationGracePeriodSeconds":0}}}}"#;
    let (mut object, strict) = decoded(kind("apps", "Deployment"), spec);
    let containers = "/spec/template/spec/containers";
    assert_eq!(object.pointer(containers), Some(&json!([])), "those who own fields see the list");
    crate::tighten(&mut object, kind("apps", "Deployment"));
    assert_eq!(
        object["spec"],
        json!({
            "replicas": 0,
            "selector": {},
            "strategy": {},
            "template": { "metadata": {}, "spec": {
                "containers": null,
                "automountServiceAccountToken": false,
                "terminationGracePeriodSeconds": 0,
            } },
        })
    );
    assert!(strict.is_empty());
}

#[test]
fn amounts_in_lists_that_are_owned_as_a_whole_keep_their_spelling() {
    let ranges = kind("", "LimitRange");
    let body = r#"{"spec":{"limits":[{"type":"Pod","max":{"cpu":"0.1"}}]}}"#;
    let decoded = decode(body.as_bytes(), Media::Json, &Target::from(ranges)).expect("decodes");
    let mut object = decoded.object;
    assert!(decoded.traces.is_loose);
    assert_eq!(object["spec"]["limits"][0]["max"]["cpu"], "0.1");
    crate::tighten(&mut object, ranges);
    assert_eq!(object["spec"]["limits"][0]["max"]["cpu"], "100m");
}

#[test]
fn a_list_of_no_policies_is_not_filled_in() {
    let autoscaler = Api::get().kind("autoscaling", "v2", "HorizontalPodAutoscaler");
    let autoscaler = autoscaler.expect("is served");
    let body = r#"{"spec":{"behavior":{"scaleUp":{"policies":[]},"scaleDown":{}}}}"#;
    let (mut object, _) = decoded(autoscaler, body);
    crate::default(&mut object, autoscaler);
    let behavior = &object["spec"]["behavior"];
    assert_eq!(behavior["scaleUp"]["policies"], json!([]));
    assert_eq!(behavior["scaleDown"]["policies"].as_array().map(Vec::len), Some(1));
}

#[test]
fn values_get_their_canonical_spelling() {
    let (object, _) = decoded(
        kind("", "Pod"),
        r#"{"metadata":{"creationTimestamp":"2024-01-01T02:00:00.5+02:00"},
            "spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":0.5,"memory":" 1024Mi "}}}]}}"#,
    );
    assert_eq!(object["metadata"]["creationTimestamp"], "2024-01-01T00:00:00Z");
    let limits = &object["spec"]["containers"][0]["resources"]["limits"];
    assert_eq!(*limits, json!({ "cpu": "500m", "memory": "1Gi" }));
    let (object, _) = decoded(kind("", "Secret"), r#"{"data":{"a":"YW\nI=","b":"YR=="}}"#);
    assert_eq!(object["data"], json!({ "a": "YWI=", "b": "YQ==" }));
    let (object, _) = decoded(kind("", "Secret"), r#"{"data":{"a":[97,98],"b":[]}}"#);
    assert_eq!(object["data"], json!({ "a": "YWI=", "b": "" }));
    let definition = Api::get().kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let (object, _) = decoded(
        definition.expect("is served"),
        r#"{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"minimum":1.0,"maximum":1.5,
            "default":1.0,"enum":[null,1],"items":{"type":"x"},"additionalProperties":true}}}]}}"#,
    );
    let schema = object.pointer("/spec/versions/0/schema/openAPIV3Schema").expect("is there");
    assert_eq!(
        *schema,
        json!({
            "minimum": 1,
            "maximum": 1.5,
            "default": 1.0,
            "enum": [null, 1],
            "items": { "type": "x" },
            "additionalProperties": true,
        })
    );
}

#[test]
fn unknown_and_repeated_fields_are_told_in_their_order() {
    let (object, strict) = decoded(
        kind("", "Service"),
        r#"{"Kind":"Service","metadata":{"name":"a","name":"b","labels":{"x":"1","x":"2"}},
            "spec":{"clusterIp":"None","ports":[{"port":80,"port":81,"prot":"x"}]},"extra":{"a":1,"a":2}}"#,
    );
    assert_eq!(
        strict,
        [
            r#"unknown field "Kind""#,
            r#"duplicate field "metadata.name""#,
            r#"duplicate field "metadata.labels.x""#,
            r#"unknown field "spec.clusterIp""#,
            r#"duplicate field "spec.ports[0].port""#,
            r#"unknown field "spec.ports[0].prot""#,
            r#"unknown field "extra""#,
        ]
    );
    assert_eq!(object["metadata"], json!({ "name": "b", "labels": { "x": "2" } }));
    assert_eq!(object["spec"]["ports"], json!([{ "port": 81, "targetPort": 0 }]));
}

#[test]
fn a_repeated_field_is_read_on_top_of_the_first() {
    let (object, strict) = decoded(
        kind("", "ConfigMap"),
        r#"{"data":{"a":"1","b":"2"},"metadata":{"name":"x"},"data":{"b":"3"},"metadata":{"namespace":"n"},
            "immutable":true,"immutable":null}"#,
    );
    assert_eq!(object["data"], json!({ "a": "1", "b": "3" }));
    assert_eq!(object["metadata"], json!({ "name": "x", "namespace": "n" }));
    assert_eq!(object.get("immutable"), None);
    assert_eq!(strict.len(), 3);
}

#[test]
fn no_more_than_a_hundred_fields_are_told() {
    let fields: Vec<String> = (0..300).map(|n| format!("\"f{n}\":1")).collect();
    let (_, strict) = decoded(kind("", "ConfigMap"), &format!("{{{}}}", fields.join(",")));
    assert_eq!(strict.len(), 100);
}

#[test]
fn wrong_types_are_named_as_go_names_them() {
    let check = refused_deployment;
    check(
        "[]",
        "json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec",
    );
    check(
        r#"{"replicas":"1"}"#,
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    );
    check(
        r#"{"replicas":1.5}"#,
        "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
    );
    check(
        r#"{"replicas":3000000000}"#,
        "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
    );
    check(
        r#"{"selector":"a"}"#,
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.selector of type v1.LabelSelector",
    );
    check(
        r#"{"strategy":{"rollingUpdate":{"maxSurge":true}}}"#,
        "json: cannot unmarshal bool into Go struct field \
         RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
    );
    check(
        r#"{"template":{"metadata":{"labels":{"a":1}},"spec":{"containers":{}}}}"#,
        "json: cannot unmarshal number into Go struct field ObjectMeta.spec.template.metadata.labels of type string",
    );
    check(
        r#"{"template":{"metadata":{"labels":[]}}}"#,
        "json: cannot unmarshal array into Go struct field ObjectMeta.spec.template.metadata.labels of type map[string]string",
    );
    check(
        r#"{"template":{"metadata":{"creationTimestamp":1}}}"#,
        "json: cannot unmarshal number into Go struct field \
         ObjectMeta.spec.template.metadata.creationTimestamp of type string",
    );
    check(
        r#"{"template":{"spec":{"containers":[{"command":"x"}]}}}"#,
        "json: cannot unmarshal string into Go struct field \
         Container.spec.template.spec.containers.command of type []string",
    );
    check(
        r#"{"template":{"spec":{"containers":[{"resources":{"limits":[]}}]}}}"#,
        "json: cannot unmarshal array into Go struct field \
         ResourceRequirements.spec.template.spec.containers.resources.limits of type v1.ResourceList",
    );
    check(
        r#"{"template":{"spec":{"volumes":[{"hostPath":"/a"}]}}}"#,
        "json: cannot unmarshal string into Go struct field \
         Volume.spec.template.spec.volumes.VolumeSource.hostPath of type v1.HostPathVolumeSource",
    );
    check(
        r#"{"template":{"spec":{"containers":{},"volumes":1,"dnsPolicy":1}}}"#,
        "json: cannot unmarshal object into Go struct field \
         PodSpec.spec.template.spec.containers of type []v1.Container",
    );
}

#[test]
fn schemas_in_schemas_are_named_by_their_whole_path() {
    let check = |schema: &str, field: &str| {
        let body = format!(
            r#"{{"spec":{{"versions":[{{"schema":{{"openAPIV3Schema":{{"properties":{{"a":{schema}}}}}}}}}]}}}}"#
        );
        let problem = format!(
            "CustomResourceDefinition in version \"v1\" cannot be handled as a CustomResourceDefinition: json: \
             cannot unmarshal number into Go struct field \
             JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.{field}"
        );
        refused(kind("apiextensions.k8s.io", "CustomResourceDefinition"), &body, &problem);
    };
    check(
        r#"{"items":{"additionalProperties":{"required":1}}}"#,
        "items.additionalProperties.required of type []string",
    );
    check(
        r#"{"items":{"x-kubernetes-validations":[{"rule":1}]}}"#,
        "items.x-kubernetes-validations.rule of type string",
    );
    check(r#"{"items":[1]}"#, "items of type v1.JSONSchemaProps");
}

#[test]
fn types_that_read_themselves_have_the_last_word() {
    let check = refused_deployment;
    let quantity = "quantities must match the regular expression \
                    '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    check(
        r#"{"replicas":"x","template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"1x"}}}]}}}"#,
        quantity,
    );
    check(
        r#"{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"1KK"}}}]}}}"#,
        "unable to parse quantity's suffix",
    );
    check(
        r#"{"template":{"metadata":{"creationTimestamp":"x"}}}"#,
        "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"",
    );
    let prefix = "Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data at input byte ";
    for (text, place) in
        [("a", 0), ("ab", 0), ("abcd!", 4), ("ab=c", 2), ("YQ==x", 4), ("abcde", 4)]
    {
        let body = format!("{{\"data\":{{\"a\":{text:?}}}}}");
        refused(kind("", "Secret"), &body, &format!("{prefix}{place}"));
    }
}

#[test]
fn bodies_that_do_not_say_what_they_are_are_unrecognized() {
    let check = |body: &str, problem: &str| {
        let prefix = "the object provided is unrecognized (must be of type ConfigMap): ";
        refused(kind("", "ConfigMap"), body, &format!("{prefix}{problem}"));
    };
    let parse = "couldn't get version/kind; json parse error: ";
    check("", &format!("{parse}unexpected end of JSON input (<empty>)"));
    check("{", &format!("{parse}unexpected end of JSON input ({{)"));
    check(
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",",
        &format!(
            "{parse}unexpected end of JSON input ({{\"apiVersion\":\"v1\",\"kind\":\"Con ...)"
        ),
    );
    check(
        "{\"kind\":3}",
        &format!(
            "{parse}json: cannot unmarshal number into Go struct field .kind of type string ({{\"kind\":3}})"
        ),
    );
    check(
        "{\"apiVersion\":\"a/b/c\"}",
        "unexpected GroupVersion string: a/b/c ({\"apiVersion\":\"a/b/c\"})",
    );
    let target = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; \
                  Kind string \"json:\\\"kind,omitempty\\\"\" }";
    check(
        "[]",
        &format!("{parse}json: cannot unmarshal array into Go value of type {target} (5b5d)"),
    );
}

#[test]
fn bodies_of_other_kinds_are_refused() {
    let check = |body: &str, problem: &str| refused(kind("", "ConfigMap"), body, problem);
    check(
        r#"{"apiVersion":"v1","kind":"Secret"}"#,
        "Secret in version \"v1\" cannot be handled as a ConfigMap: \
         converting (v1.Secret) to (core.ConfigMap): unknown conversion",
    );
    check(
        r#"{"apiVersion":"v2"}"#,
        "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: \
         no kind \"ConfigMap\" is registered for version \"v2\" in scheme \"pkg/runtime/scheme.go:111\"",
    );
    check(
        r#"{"apiVersion":"v1","kind":"ConfigMapList"}"#,
        "ConfigMapList in version \"v1\" cannot be handled as a ConfigMap: \
         converting (v1.ConfigMapList) to (core.ConfigMap): unknown conversion",
    );
    refused(
        kind("apps", "Deployment"),
        r#"{"apiVersion":"extensions/v1beta1"}"#,
        "the API version in the data (extensions/v1beta1) does not match the expected API version (apps/v1)",
    );
    let autoscaler = Api::get().kind("autoscaling", "v2", "HorizontalPodAutoscaler");
    refused(
        autoscaler.expect("is served"),
        r#"{"apiVersion":"autoscaling/v1"}"#,
        "the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)",
    );
    let (object, _) = decoded(kind("", "ConfigMap"), "null");
    assert_eq!(object, json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": {} }));
}

#[test]
fn yaml_reports_repeated_keys_in_its_own_words() {
    let body = "kind: ConfigMap\ndata:\n  a: '1'\n  a: '2'\nnope: 1\n";
    let target = Target::from(kind("", "ConfigMap"));
    let decoded = decode(body.as_bytes(), Media::Yaml, &target).expect("decodes");
    assert_eq!(decoded.object["data"], json!({ "a": "2" }));
    let warnings: Vec<&str> = decoded.strict.warnings().collect();
    assert_eq!(warnings, ["line 4: key \"a\" already set in map", "unknown field \"nope\""]);
    assert_eq!(
        decoded.strict.error(),
        "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"a\" already set in map, \
         unknown field \"nope\""
    );
}

#[test]
fn patches_may_have_fields_twice() {
    let check = |body: &str, expected: &[&str]| {
        assert_eq!(super::duplicates(body.as_bytes()), expected, "{body}");
    };
    check(r#"{"a":1,"b":{"c":[{"d":1}]}}"#, &[]);
    check(
        r#"{"a":1,"b":{"c":[{},{"d":1,"d":2}]},"a":2}"#,
        &[r#"duplicate field "b.c[1].d""#, r#"duplicate field "a""#],
    );
    check("{", &[]);
}

#[test]
fn depth_is_refused_and_not_a_crash() {
    let definition = Api::get().kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let definition = definition.expect("is served");
    let deep = |open: &str, close: &str, levels: usize| {
        let schema = open.repeat(levels) + "{}" + &close.repeat(levels);
        format!("{{\"spec\":{{\"versions\":[{{\"schema\":{{\"openAPIV3Schema\":{schema}}}}}]}}}}")
    };
    for (open, close) in [("{\"not\":", "}"), ("{\"items\":", "}"), ("{\"default\":{\"a\":", "}}")]
    {
        let body = deep(open, close, 4_000);
        let error = decode(body.as_bytes(), Media::Json, &Target::from(definition));
        assert!(error.expect_err("is too deep").to_string().ends_with("exceeded max depth"));
        decoded(definition, &deep(open, close, 20));
    }
    // What is not kept may be as deep as the text.
    let unknown = format!("{{\"x\":{}{}}}", "[".repeat(9_000), "]".repeat(9_000));
    let (_, strict) = decoded(kind("", "ConfigMap"), &unknown);
    assert_eq!(strict, ["unknown field \"x\""]);
}

#[test]
fn a_canonical_object_stays_as_it_is() {
    let of = kind("", "Pod");
    let (object, _) = decoded(
        of,
        r#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","env":[{"name":"A","value":""}]}]}}"#,
    );
    let again = decode_value(&object, of.object).expect("decodes");
    assert_eq!(again.object, object);
    assert!(again.strict.is_empty());
}
