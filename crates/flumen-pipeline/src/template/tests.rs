use flumen_yaml::{Budget, Text, emit};

use super::*;

fn values() -> Values {
    let inputs = "region: eu-1\nreplicas: 3\ndebug: true\nyes: \"yes\"\nempty: \"\"\n\
                  cert: |\n  -----BEGIN-----\n  AAAA\ndb: {host: db.example.com, port: 5432}\n\
                  evil: \"x\\\"}\\n---\\nkind: Secret\"\n";
    let inputs = flumen_yaml::read(&Text::from(inputs), 1, &Budget::default()).expect("inputs");
    let mut values = Values::new("prod", inputs.into_iter().next().expect("a document"));
    let outputs = flumen_yaml::read(&Text::from("image: {tag: v7}"), 1, &Budget::default());
    values.set_outputs("web-1", outputs.expect("outputs").pop().expect("a document"));
    values
}

#[track_caller]
fn rendered(text: &str) -> String {
    let documents = render(text, &values()).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let emitted = documents.iter().map(|node| {
        let mut out = Vec::new();
        emit(node, &mut out).expect("printable");
        String::from_utf8(out).expect("UTF-8")
    });
    emitted.collect::<Vec<_>>().join("---\n")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(rendered(text), expected, "{text}");
}

#[track_caller]
fn refused(text: &str, message: &str) -> TemplateError {
    let error = render(text, &values()).expect_err("refused");
    assert_eq!(error.to_string(), message, "{text}");
    error
}

#[test]
fn placeholders_stand_in_values_keys_and_text() {
    check("name: app-{{ .install.id }}\n", "name: app-prod\n");
    check("{{.install.id}}: 1\n", "prod: 1\n");
    check(
        "- {{ .install.id }}\n- [{{.install.id}}, \"{{.install.id}}\"]\n",
        "- prod\n- - prod\n  - prod\n",
    );
    check(
        "url: {{ .install.inputs.db.host }}:{{ .install.inputs.db.port }}/x\n",
        "url: db.example.com:5432/x\n",
    );
    check("text: |\n  a={{ .install.id }}\n  b=1\n", "text: |\n  a=prod\n  b=1\n");
    check("a: {{ .install.components.web-1.outputs.image.tag }}\n", "a: v7\n");
    check("a: '{{ .install.id }}'\n---\nb: {{ .install.id }}\n", "a: prod\n---\nb: prod\n");
}

#[test]
fn files_made_for_nuon_go_on() {
    check("a: {{.nuon.install.id}}\n", "a: prod\n");
    check("a: {{ .nuon.inputs.inputs.region }}\n", "a: eu-1\n");
    check("a: {{ .nuon.inputs.region }}\n", "a: eu-1\n");
    check("a: {{ .nuon.install.inputs.region }}\n", "a: eu-1\n");
    check("a: {{.nuon.components.web-1.outputs.image.tag}}\n", "a: v7\n");
}

#[test]
fn a_plain_placeholder_keeps_the_type_of_its_value() {
    check("replicas: {{ .install.inputs.replicas }}\n", "replicas: 3\n");
    check("replicas: \"{{ .install.inputs.replicas }}\"\n", "replicas: \"3\"\n");
    check("debug: {{ .install.inputs.debug }}\n", "debug: true\n");
    check("debug: x{{ .install.inputs.debug }}\n", "debug: xtrue\n");
    check("yes_: {{ .install.inputs.yes }}\n", "yes_: \"yes\"\n");
    check("a: {{ .install.inputs.empty }}\n", "a: \"\"\n");
    check("{{ .install.inputs.replicas }}: a\n", "\"3\": a\n");
    check("a: {{ .install.inputs.replicas }}{{ .install.inputs.replicas }}\n", "a: \"33\"\n");
}

#[test]
fn other_template_languages_stay() {
    let text = "rule: '{{ $labels.instance }} of {{ .Values.install.id }}'\n";
    check(text, text);
    check("a: '{{ $.install.id }} {{ .install.id }}'\n", "a: '{{ $.install.id }} prod'\n");
}

#[test]
fn values_cannot_change_the_structure() {
    let cert = "ca: |\n  -----BEGIN-----\n  AAAA\n";
    check("ca: {{ .install.inputs.cert }}\n", cert);
    check("ca: '{{ .install.inputs.cert }}'\n", cert);
    check("a: {{ .install.inputs.evil }}\n", "a: |-\n  x\"}\n  ---\n  kind: Secret\n");
    let error = refused(
        "apiVersion: v1\ndata:\n  app.conf: |\n    a: 1\n    ca: {{ .install.inputs.cert }}\n",
        "document 1, line 5: the value of `.install.inputs.cert` has several lines and would change \
         the text around it",
    );
    assert!(error.hint().is_some_and(|hint| hint.contains("one line")), "{error:?}");
    refused(
        "a: {{ .install.inputs.db }}\n",
        "document 1, line 1: `.install.inputs.db` is a table, not a value",
    );
    refused(
        "x: 1\nprod: 1\n{{ .install.id }}: 2\n",
        "document 1, line 3: `{{ .install.id }}` makes two keys of a mapping equal",
    );
}

#[test]
fn unknown_paths_name_their_place_and_the_nearest_path() {
    let error = refused(
        "a: 1\n---\nb:\n- c: {{ .install.inputs.regoin }}\n",
        "document 2, line 4: there is no value `.install.inputs.regoin`",
    );
    assert_eq!(error.hint(), Some("did you mean `.install.inputs.region`?"));
    let error = refused(
        "a: {{ .nuon.inputs.inputs.regoin }}\n",
        "document 1, line 1: there is no value `.nuon.inputs.inputs.regoin`",
    );
    assert_eq!(error.hint(), Some("did you mean `.install.inputs.region`?"));
    let error = refused(
        "{{ .install.components.zzz.outputs.x }}: 1\n",
        "document 1, line 1: there is no value `.install.components.zzz.outputs.x`",
    );
    assert_eq!(error.hint(), None);
}

#[test]
fn nothing_but_paths_is_understood() {
    for action in ["{{ .install.id | upper }}", "{{- .install.id -}}", "{{ if .nuon.x }}"] {
        let message = format!("document 1, line 1: `{action}` is more than a path");
        refused(&format!("a: {action}\n"), &message);
    }
    refused("a: '{{ .install.id'\n", "document 1, line 1: `{{ .install.id` is not closed");
    refused("a: {{ .x }}\n", "line 1: invalid map key: a mapping or a sequence cannot be a key");
}

#[test]
fn writers_may_fold_long_lines_within_braces() {
    check("a: 'one {{\n  .install.id }}'\n", "a: one prod\n");
    check("a: \"one {{ .install.id\n  }}\"\n", "a: one prod\n");
}

#[test]
fn comments_are_not_looked_at() {
    check("# {{ .install.absent }}\na: 1 # {{ if .nuon.x }}\n", "a: 1\n");
}

#[test]
fn namespaces_are_filled_in_alike() {
    let render = |text: &str| render_namespace(text, &values());
    assert_eq!(render("app-{{.nuon.install.id}}"), Ok("app-prod".to_owned()));
    assert_eq!(render("plain"), Ok("plain".to_owned()));
    let error = render("{{ .install.inputs.x }}").expect_err("unknown");
    assert_eq!(error.to_string(), "namespace: there is no value `.install.inputs.x`");
}

#[test]
fn references_to_components_are_found() {
    let found = |text| components_in(text).collect::<Vec<_>>();
    assert_eq!(found("{{.nuon.components.db.outputs.url}}"), ["db"]);
    assert_eq!(
        found("a {{ .install.components.my-db_2.x }}{{.nuon.components.api.y}}"),
        ["my-db_2", "api"]
    );
    assert_eq!(found("{{ printf \"%s\" .nuon.components.a.x .nuon.components.b.x }}"), ["a", "b"]);
    assert!(found(".nuon.components.db {{.nuon.install.id}} {{.nuon.components.}}").is_empty());
}

#[test]
fn values_are_never_shown() {
    let shown = format!("{:?}", values());
    assert!(shown.contains(".install.inputs.region") && !shown.contains("eu-1"), "{shown}");
}
