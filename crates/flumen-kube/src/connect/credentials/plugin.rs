//! Credential plugins: programs that print a token or a client certificate.
//!
//! What they print on stdout is never shown.

use std::{
    io::{IsTerminal as _, stdin},
    process::{Command, Stdio},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flumen_yaml::{Budget, to_json};
use jiff::{SignedDuration, Timestamp};
use rustls::{crypto::CryptoProvider, sign::CertifiedKey};
use serde_json::{Map, Value, json};
use tokio::{sync::Mutex, task::spawn_blocking};

use super::{Current, bearer, unusable};
use crate::{
    ConfigError,
    connect::{
        certificate::{certified_key, one_line},
        kubeconfig::{Cluster, Exec, Fields, Interactive, Pem},
    },
};

/// Credentials that expire within this time are renewed.
const SLACK: SignedDuration = SignedDuration::from_mins(1);
/// Characters of a plugin's stderr in a message.
const MAX_SAID: usize = 300;

pub(in crate::connect) struct Plugin {
    call: Arc<Call>,
    /// Locked while the plugin runs.
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    runs: u64,
    issued: Option<Issued>,
}

struct Issued {
    current: Current,
    expires: Option<Timestamp>,
}

impl Plugin {
    pub(super) fn new(
        exec: &Exec,
        cluster: &Cluster,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, ConfigError> {
        let call = Arc::new(Call::new(exec, cluster, provider)?);
        Ok(Self { call, state: Arc::default() })
    }

    /// Runs the plugin if there are no credentials, or if they expire soon.
    pub(super) async fn current(&self) -> Result<Current, ConfigError> {
        let mut state = self.state.clone().lock_owned().await;
        if let Some(current) = state.usable(Timestamp::now()) {
            return Ok(current);
        }
        let call = self.call.clone();
        // The run keeps the lock even if the request is cancelled, so that a second run cannot start.
        let run = spawn_blocking(move || Ok(state.keep(call.run()?)));
        run.await.unwrap_or_else(|error| Err(unusable(error.to_string())))
    }

    pub(super) async fn reject(&self, rejected: &Current) {
        let mut state = self.state.lock().await;
        if state.runs == rejected.run {
            state.issued = None;
        }
    }
}

impl State {
    fn usable(&self, now: Timestamp) -> Option<Current> {
        let issued = self.issued.as_ref()?;
        let lasts = issued.expires.is_none_or(|expires| expires.duration_since(now) > SLACK);
        lasts.then(|| issued.current.clone())
    }

    fn keep(&mut self, mut issued: Issued) -> Current {
        self.runs += 1;
        issued.current.run = self.runs;
        let current = issued.current.clone();
        self.issued = Some(issued);
        current
    }
}

/// How the plugin is run.
struct Call {
    program: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    interactive: Interactive,
    api_version: Option<String>,
    /// The cluster, for plugins that ask for it.
    cluster: Option<Value>,
    provider: Arc<CryptoProvider>,
}

impl Call {
    fn new(
        exec: &Exec,
        cluster: &Cluster,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, ConfigError> {
        let program = exec
            .command
            .clone()
            .ok_or_else(|| unusable("the credential plugin has no `command`".to_owned()))?;
        let cluster = exec.provide_cluster_info.then(|| describe(cluster)).transpose()?;
        Ok(Self {
            program,
            args: exec.args.clone(),
            env: exec.env.clone(),
            interactive: exec.interactive,
            api_version: exec.api_version.clone(),
            cluster,
            provider,
        })
    }

    fn run(&self) -> Result<Issued, ConfigError> {
        let program = &self.program;
        let is_interactive = match self.interactive {
            Interactive::Never => false,
            Interactive::IfAvailable => stdin().is_terminal(),
            Interactive::Always => true,
        };
        // The user sees its stderr, unless the plugin must not be interactive.
        let is_heard = self.interactive != Interactive::Never;
        let output = Command::new(program)
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("KUBERNETES_EXEC_INFO", self.info(is_interactive))
            .stdin(if is_interactive { Stdio::inherit() } else { Stdio::null() })
            .stderr(if is_heard { Stdio::inherit() } else { Stdio::piped() })
            .output()
            .map_err(|error| unusable(format!("`{program}` cannot be run: {error}")))?;
        if output.status.success() {
            return self.read(&output.stdout);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let said = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
        let said: String = said.unwrap_or_default().chars().take(MAX_SAID).collect();
        Err(unusable(format!("`{program}` failed with {}: {said}", output.status)))
    }

    fn info(&self, is_interactive: bool) -> String {
        let mut spec = Map::from_iter([("interactive".to_owned(), is_interactive.into())]);
        spec.extend(self.cluster.clone().map(|cluster| ("cluster".to_owned(), cluster)));
        let mut info = json!({"kind": "ExecCredential", "spec": spec});
        if let Some(version) = &self.api_version {
            info["apiVersion"] = version.as_str().into();
        }
        info.to_string()
    }

    /// Plugins should print JSON; some print YAML.
    fn read(&self, output: &[u8]) -> Result<Issued, ConfigError> {
        let program = &self.program;
        let answer = answer(output)
            .ok_or_else(|| unusable(format!("what `{program}` printed cannot be read")))?;
        let expires = answer.expires.map(|time| time.parse()).transpose();
        let expires = expires.map_err(|_| {
            unusable(format!("the `expirationTimestamp` that `{program}` printed is not a time"))
        })?;
        let authorization = answer.token.as_deref().map(bearer).transpose()?;
        let certificate = match (&answer.certificate, &answer.key) {
            (Some(certificate), Some(key)) => Some(self.certificate(certificate, key)?),
            (None, None) => None,
            _ => {
                return Err(unusable(format!(
                    "`{program}` printed only one of client certificate and key"
                )));
            }
        };
        if authorization.is_none() && certificate.is_none() {
            return Err(unusable(format!("`{program}` printed no credentials")));
        }
        Ok(Issued { current: Current { authorization, certificate, run: 0 }, expires })
    }

    fn certificate(&self, certificate: &str, key: &str) -> Result<Arc<CertifiedKey>, ConfigError> {
        let places = ["clientCertificateData", "clientKeyData"]
            .map(|field| format!("the `{field}` that `{}` printed", self.program));
        certified_key(certificate.as_bytes(), key.as_bytes(), &places, &self.provider)
    }
}

/// The status that a plugin printed.
struct Answer {
    token: Option<String>,
    expires: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
}

fn answer(output: &[u8]) -> Option<Answer> {
    let text = flumen_yaml::decode(output).ok()?;
    let documents = flumen_yaml::read(&text, 1, &Budget::default()).ok()?;
    let answer = Fields::of(documents.first()?).ok()?;
    let Some(status) = answer.fields("status").ok()? else {
        return Some(Answer { token: None, expires: None, certificate: None, key: None });
    };
    Some(Answer {
        token: status.text("token").ok()?,
        expires: status.text("expirationTimestamp").ok()?,
        certificate: status.text("clientCertificateData").ok()?,
        key: status.text("clientKeyData").ok()?,
    })
}

fn describe(cluster: &Cluster) -> Result<Value, ConfigError> {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        fields.extend(value.map(|value| (name.to_owned(), value)));
    };
    let authority = match &cluster.certificate_authority {
        Some(Pem::Data(data)) => Some(one_line(data)),
        Some(file) => Some(STANDARD.encode(file.read("certificate-authority")?)),
        None => None,
    };
    set("server", cluster.server.clone().map(Value::from));
    set("tls-server-name", cluster.tls_server_name.clone().map(Value::from));
    set("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify.then_some(true.into()));
    set("certificate-authority-data", authority.map(Value::from));
    set("proxy-url", cluster.proxy_url.clone().map(Value::from));
    set("disable-compression", cluster.disable_compression.then_some(true.into()));
    if let Some(config) = &cluster.plugin_config {
        let json = to_json(config).ok().and_then(|json| serde_json::from_str(&json).ok());
        let json = json.ok_or_else(|| {
            unusable("the settings of the credential plugin cannot be written as JSON".to_owned())
        });
        set("config", Some(json?));
    }
    Ok(fields.into())
}
