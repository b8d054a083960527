//! A program that both servers ask: webhooks by path, over HTTPS on loopback.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flumen_testkit::Certificate;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;

/// It runs as long as this is there.
pub(crate) struct Hook {
    pub url: String,
    /// What its clients have to trust, as configurations have it.
    pub bundle: String,
    task: JoinHandle<()>,
}

impl Drop for Hook {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Hook {
    pub(crate) async fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let files = Certificate::for_loopback(directory.path()).expect("a certificate");
        let pem = std::fs::read(&files.authority).expect("an authority");
        let chain = CertificateDer::pem_file_iter(&files.certificate).expect("a file");
        let chain = chain.collect::<Result<Vec<_>, _>>().expect("certificates");
        let key = PrivateKeyDer::from_pem_file(&files.key).expect("a key");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("a usable certificate");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("https://{}", listener.local_addr().expect("an address"));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(acceptor.clone(), stream));
            }
        });
        Self { url, bundle: STANDARD.encode(pem), task }
    }
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream) {
    let Ok(mut stream) = acceptor.accept(stream).await else { return };
    let Some((path, body)) = read(&mut stream).await else { return };
    let (status, answer) = match path.as_str() {
        // The client goes before there is an answer.
        "/slow" => {
            let _ = stream.read_u8().await;
            return;
        }
        "/broken" => ("500 Internal Server Error", "oh no".to_owned()),
        "/missing" => ("404 Not Found", "nothing here".to_owned()),
        "/nonsense" => ("200 OK", "{}".to_owned()),
        "/convert" => ("200 OK", convert(&body).to_string()),
        path => ("200 OK", review(path, &body).to_string()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        answer.len()
    );
    let _ = stream.write_all(format!("{head}{answer}").as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// The path and the body of one request.
async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<(String, Value)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let path = head.split(' ').nth(1)?.split('?').next()?.to_owned();
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?.1;
    let mut body = vec![0; length.parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    Some((path, serde_json::from_slice(&body).ok()?))
}

fn review(path: &str, review: &Value) -> Value {
    let request = &review["request"];
    let mut response = json!({ "uid": request["uid"], "allowed": true });
    let patch = |operations: Value| STANDARD.encode(operations.to_string());
    match path {
        "/label" => {
            let labels = request["object"]["metadata"]["labels"].as_object();
            let operations = match labels {
                Some(_) => json!([{"op": "add", "path": "/metadata/labels/seen", "value": "yes"}]),
                None => {
                    json!([{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}])
                }
            };
            response["patch"] = patch(operations).into();
            response["patchType"] = "JSONPatch".into();
        }
        // Notes every time that it is asked, and with which labels.
        "/note" => {
            let data = &request["object"]["data"];
            let labels = &request["object"]["metadata"]["labels"];
            let note = format!("{}[{labels}]", data["note"].as_str().unwrap_or_default());
            let operations = match data {
                Value::Object(_) => json!([{"op": "add", "path": "/data/note", "value": note}]),
                _ => json!([{"op": "add", "path": "/data", "value": {"note": note}}]),
            };
            response["patch"] = patch(operations).into();
            response["patchType"] = "JSONPatch".into();
        }
        // Shows what it was told.
        "/echo" => {
            let mut told = request.clone();
            for field in ["uid", "userInfo", "object", "oldObject"] {
                told[field] = json!(told[field].is_null());
            }
            let told = json!({ "review": review["apiVersion"], "request": told }).to_string();
            let operations = json!([{"op": "add", "path": "/data", "value": {"told": told}}]);
            response["patch"] = patch(operations).into();
            response["patchType"] = "JSONPatch".into();
        }
        "/unknown-field" => {
            response["patch"] = patch(json!([{"op": "add", "path": "/nope", "value": 1}])).into();
            response["patchType"] = "JSONPatch".into();
        }
        "/untyped-patch" => response["patch"] = patch(json!([])).into(),
        "/other-uid" => response["uid"] = "other".into(),
        "/other-kind" => return json!({ "response": response }),
        "/nothing" => {
            return json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview" });
        }
        "/warn" => {
            response["warnings"] = json!(["look out", "mind the gap"]);
            response["auditAnnotations"] = json!({ "a": "b" });
        }
        "/deny" => {
            response["allowed"] = false.into();
            response["status"] = json!({ "message": "not today", "code": 403 });
        }
        "/deny-silently" => response["allowed"] = false.into(),
        "/deny-fully" => {
            response["allowed"] = false.into();
            response["warnings"] = json!(["think again"]);
            response["status"] = json!({
                "status": "Failure",
                "message": "",
                "reason": "Odd",
                "code": 418,
                "details": { "name": "x", "kind": "y", "causes": [{ "message": "why", "field": "z" }] },
            });
        }
        _ => {}
    }
    json!({ "apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response })
}

/// `v1` has a size, `v2` has it as text with its unit.
fn convert(review: &Value) -> Value {
    let request = &review["request"];
    let wanted = request["desiredAPIVersion"].as_str().unwrap_or_default();
    let objects = request["objects"].as_array().into_iter().flatten().cloned();
    let converted: Vec<Value> = objects
        .map(|mut object| {
            let spec = &mut object["spec"];
            if wanted.ends_with("/v2") {
                let size = spec["size"].take();
                *spec = json!({ "length": format!("{size}m") });
            } else {
                let length = spec["length"].as_str().unwrap_or_default().trim_end_matches('m');
                *spec = json!({ "size": length.parse::<i64>().unwrap_or_default() });
            }
            object["apiVersion"] = wanted.into();
            object
        })
        .collect();
    let fails = converted.iter().any(|object| object["metadata"]["name"] == "stubborn");
    let result = if fails {
        json!({ "status": "Failure", "message": "it does not want to" })
    } else {
        json!({ "status": "Success" })
    };
    json!({
        "apiVersion": review["apiVersion"],
        "kind": "ConversionReview",
        "response": {
            "uid": request["uid"],
            "result": result,
            "convertedObjects": converted,
        },
    })
}
