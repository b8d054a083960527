use flumen_yaml::Text;

use super::{IamPolicyArgs, config_map, iam_policy, secret};
use crate::{
    error::Result,
    kustomization::fields::{GeneratorArgs, GeneratorOptions, Located, Pairs},
    resmap::ResMap,
    transform::{
        Scene,
        stage::{on_stage, printed},
    },
};

#[track_caller]
fn check(generate: impl FnOnce(&Scene<'_>) -> Result<ResMap>, expected: &str) {
    let binary: Vec<u8> = (120..220).collect();
    let files: [(&str, &[u8]); 2] = [("a.bin", &binary), ("u.txt", b"<a>\n")];
    let actual = match on_stage(&files, generate) {
        Ok(resources) => printed(&resources),
        Err(error) => format!("error: {error}\n"),
    };
    assert_eq!(actual, expected);
}

fn pairs(pairs: &[(&str, &str)]) -> Pairs {
    pairs.iter().map(|(key, value)| (Text::from(*key), Text::from(*value))).collect()
}

fn located(texts: &[&str]) -> Vec<Located> {
    texts.iter().map(|text| Located { text: Text::from(*text), ..Located::default() }).collect()
}

#[test]
fn options_of_the_generator_win_over_shared_ones() {
    let args = GeneratorArgs {
        name: "123".into(),
        namespace: "5".into(),
        literals: located(&["n=1", "a=b"]),
        options: Some(GeneratorOptions {
            labels: pairs(&[("z", "true"), ("x", "1")]),
            disable_name_suffix_hash: true,
            ..GeneratorOptions::default()
        }),
        ..GeneratorArgs::default()
    };
    let shared = GeneratorOptions {
        labels: pairs(&[("x", "9"), ("w", "8")]),
        annotations: pairs(&[("g", "h")]),
        immutable: true,
        ..GeneratorOptions::default()
    };
    check(
        |scene| {
            let resources = config_map(&args, Some(&shared), scene)?;
            assert!(!resources.resources()[0].needs_hash);
            Ok(resources)
        },
        "\
apiVersion: v1
data:
  a: b
  \"n\": \"1\"
immutable: true
kind: ConfigMap
metadata:
  annotations:
    g: h
  labels:
    w: \"8\"
    x: \"1\"
    z: \"true\"
  name: \"123\"
  namespace: \"5\"
",
    );
}

#[test]
fn what_is_not_text_is_encoded() {
    let args = GeneratorArgs {
        name: "bin".into(),
        files: located(&["k=a.bin", "u.txt"]),
        ..GeneratorArgs::default()
    };
    check(
        |scene| config_map(&args, None, scene),
        "\
apiVersion: v1
binaryData:
  k: |
    eHl6e3x9fn+AgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6
    ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TFxsfIycrLzM3Oz9DR0tPU1dbX2Nna2w==
data:
  u.txt: |
    <a>
kind: ConfigMap
metadata:
  name: bin
",
    );
}

#[test]
fn secrets_have_a_type_and_data_even_without_any() {
    let empty = GeneratorArgs { name: "true".into(), ..GeneratorArgs::default() };
    check(
        |scene| secret(&empty, None, scene),
        "apiVersion: v1\ndata: {}\nkind: Secret\nmetadata:\n  name: \"true\"\ntype: Opaque\n",
    );
    let typed = GeneratorArgs {
        name: "s".into(),
        secret_type: "7".into(),
        literals: located(&["A=b"]),
        ..GeneratorArgs::default()
    };
    check(
        |scene| secret(&typed, None, scene),
        "apiVersion: v1\ndata:\n  A: Yg==\nkind: Secret\nmetadata:\n  name: s\ntype: \"7\"\n",
    );
}

#[test]
fn what_cannot_be_generated() {
    let nameless = GeneratorArgs::default();
    check(|scene| secret(&nameless, None, scene), "error: a configmap must have a name\n");
    let tab = GeneratorArgs {
        name: "x".into(),
        literals: located(&["a=\tx\ny"]),
        ..GeneratorArgs::default()
    };
    check(
        |scene| config_map(&tab, None, scene),
        "error: the value of 'a': \
         found a tab character where an indentation space is expected\n",
    );
    check(
        |scene| secret(&tab, None, scene),
        "apiVersion: v1\ndata:\n  a: CXgKeQ==\nkind: Secret\nmetadata:\n  name: x\ntype: Opaque\n",
    );
}

#[test]
fn a_tab_at_the_beginning_is_fine_in_quotes() {
    for text in ["a=\tx", "a=\tx \ny", "a=\tx\r\ny", "a=\tx\ny ", "a=\tx\n\u{1F600}"] {
        let args = GeneratorArgs {
            name: "x".into(),
            literals: located(&[text]),
            ..GeneratorArgs::default()
        };
        let generated = on_stage(&[], |scene| config_map(&args, None, scene));
        assert!(generated.is_ok(), "{text:?}");
    }
}

#[test]
fn service_accounts_of_a_cloud() {
    let args = IamPolicyArgs {
        cloud: "gke".into(),
        service_name: "12".into(),
        service_namespace: "ns".into(),
        account_name: "sa".into(),
        project_id: "p".into(),
        ..IamPolicyArgs::default()
    };
    check(
        |scene| iam_policy(&args, scene),
        "\
apiVersion: v1
kind: ServiceAccount
metadata:
  annotations:
    iam.gke.io/gcp-service-account: sa@p.iam.gserviceaccount.com
  name: 12
  namespace: ns
",
    );
    let elsewhere = IamPolicyArgs { cloud: "aws".into(), ..args };
    check(|scene| iam_policy(&elsewhere, scene), "error: cloud provider aws not supported yet\n");
}
