//! kubeconfig files: their types, and how they are read and merged.
//!
//! Errors name the place and never quote the file, which holds credentials. For the same reason the
//! types here have no `Debug`.

mod fields;

use std::{
    collections::BTreeMap,
    fs,
    path::{self, Path, PathBuf},
};

use flumen_yaml::{Budget, Node, Pos, Text};

use crate::ConfigError;

pub(super) use fields::Fields;

/// The extension of a cluster whose content credential plugins receive.
const PLUGIN_CONFIG: &str = "client.authentication.k8s.io/exec";

/// Values by name. The first one of a name counts.
pub(super) type Named<T> = BTreeMap<String, T>;

/// One kubeconfig, or several merged ones.
#[derive(Default)]
pub(super) struct Kubeconfig {
    pub(super) current_context: Option<String>,
    pub(super) contexts: Named<Context>,
    pub(super) clusters: Named<Cluster>,
    pub(super) users: Named<User>,
}

#[derive(Default)]
pub(super) struct Context {
    pub(super) cluster: String,
    pub(super) user: Option<String>,
    pub(super) namespace: Option<String>,
}

#[derive(Default)]
pub(super) struct Cluster {
    pub(super) server: Option<String>,
    pub(super) certificate_authority: Option<Pem>,
    pub(super) insecure_skip_tls_verify: bool,
    pub(super) tls_server_name: Option<String>,
    pub(super) proxy_url: Option<String>,
    pub(super) disable_compression: bool,
    /// Settings for credential plugins.
    pub(super) plugin_config: Option<Node>,
}

#[derive(Default)]
pub(super) struct User {
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) token: Option<String>,
    pub(super) token_file: Option<PathBuf>,
    pub(super) client_certificate: Option<Pem>,
    pub(super) client_key: Option<Pem>,
    pub(super) impersonate: Option<String>,
    pub(super) impersonate_uid: Option<String>,
    pub(super) impersonate_groups: Vec<String>,
    pub(super) impersonate_extra: BTreeMap<String, Vec<String>>,
    pub(super) auth_provider: Option<AuthProvider>,
    pub(super) exec: Option<Exec>,
}

/// Where certificates and keys are.
pub(super) enum Pem {
    /// Base64 in the kubeconfig. It wins over a file.
    Data(String),
    File(PathBuf),
}

/// The predecessor of credential plugins.
pub(super) struct AuthProvider {
    pub(super) name: String,
    pub(super) id_token: Option<String>,
}

/// A credential plugin.
pub(super) struct Exec {
    pub(super) api_version: Option<String>,
    pub(super) command: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) interactive: Interactive,
    pub(super) provide_cluster_info: bool,
}

/// Whether a credential plugin may talk to the user.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Interactive {
    Never,
    #[default]
    IfAvailable,
    Always,
}

impl Kubeconfig {
    /// Reads a file. Relative paths in it start at its directory.
    pub(super) fn from_file(path: &Path) -> Result<Self, ConfigError> {
        let bytes = fs::read(path)
            .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
        let text = flumen_yaml::decode(&bytes).map_err(|error| error.pos());
        text.and_then(|text| documents(&text, path.parent()))
            .map_err(|pos| malformed(format!("`{}`", path.display()), pos))
    }

    /// Reads a text that is no file, so that relative paths stay as they are.
    pub(super) fn from_text(text: &str) -> Result<Self, ConfigError> {
        documents(&Text::from(text), None).map_err(|pos| malformed("the text".to_owned(), pos))
    }

    /// Adds what another kubeconfig has and this one does not.
    #[must_use]
    pub(super) fn merge(mut self, next: Self) -> Self {
        self.current_context = self.current_context.or(next.current_context);
        append_new(&mut self.contexts, next.contexts);
        append_new(&mut self.clusters, next.clusters);
        append_new(&mut self.users, next.users);
        self
    }
}

fn append_new<T>(named: &mut Named<T>, next: Named<T>) {
    for (name, value) in next {
        named.entry(name).or_insert(value);
    }
}

fn malformed(place: String, pos: Pos) -> ConfigError {
    ConfigError::Malformed { place, line: pos.line.into(), column: pos.column.into() }
}

/// All documents of a text, merged. The error is the place of the mistake.
fn documents(text: &Text, directory: Option<&Path>) -> Result<Kubeconfig, Pos> {
    let nodes = flumen_yaml::read(text, 1, &Budget::default()).map_err(|error| error.pos())?;
    let mut merged = Kubeconfig::default();
    for node in nodes.iter().filter(|node| !node.is_null()) {
        merged = merged.merge(kubeconfig(&Fields::of(node)?, directory)?);
    }
    Ok(merged)
}

fn kubeconfig(fields: &Fields<'_>, directory: Option<&Path>) -> Result<Kubeconfig, Pos> {
    fields.expect("apiVersion", "v1")?;
    fields.expect("kind", "Config")?;
    Ok(Kubeconfig {
        current_context: fields.text("current-context")?,
        contexts: named(fields, "contexts", "context", context)?,
        clusters: named(fields, "clusters", "cluster", |fields| cluster(fields, directory))?,
        users: named(fields, "users", "user", |fields| user(fields, directory))?,
    })
}

/// A list of names, each with the value of `key`.
fn named<T: Default>(
    fields: &Fields<'_>,
    list: &str,
    key: &str,
    read: impl Fn(&Fields<'_>) -> Result<T, Pos>,
) -> Result<Named<T>, Pos> {
    let values = fields.list(list, |item| {
        let item = Fields::of(item)?;
        let name = item.text("name")?.ok_or(item.pos())?;
        let value = item.fields(key)?.map(|fields| read(&fields)).transpose()?;
        Ok((name, value.unwrap_or_default()))
    })?;
    // Collected from behind, so that the first one of a name stays.
    Ok(values.into_iter().rev().collect())
}

fn context(fields: &Fields<'_>) -> Result<Context, Pos> {
    Ok(Context {
        cluster: fields.text("cluster")?.unwrap_or_default(),
        user: fields.text("user")?,
        namespace: fields.text("namespace")?,
    })
}

fn cluster(fields: &Fields<'_>, directory: Option<&Path>) -> Result<Cluster, Pos> {
    let certificate_authority =
        pem(fields, "certificate-authority-data", "certificate-authority", directory)?;
    Ok(Cluster {
        server: fields.text("server")?,
        certificate_authority,
        insecure_skip_tls_verify: fields.flag("insecure-skip-tls-verify")?,
        tls_server_name: fields.text("tls-server-name")?,
        proxy_url: fields.text("proxy-url")?,
        disable_compression: fields.flag("disable-compression")?,
        plugin_config: plugin_config(fields)?,
    })
}

fn plugin_config(cluster: &Fields<'_>) -> Result<Option<Node>, Pos> {
    let extensions = cluster.list("extensions", |item| {
        let item = Fields::of(item)?;
        Ok((item.text("name")?, item.node("extension").cloned()))
    })?;
    let is_wanted = |name: &Option<String>| name.as_deref() == Some(PLUGIN_CONFIG);
    Ok(extensions.into_iter().find(|(name, _)| is_wanted(name)).and_then(|(_, value)| value))
}

fn user(fields: &Fields<'_>, directory: Option<&Path>) -> Result<User, Pos> {
    Ok(User {
        username: fields.text("username")?,
        password: fields.scalar("password")?,
        token: fields.text("token")?,
        token_file: fields.text("tokenFile")?.map(|path| absolute(path, directory)),
        client_certificate: pem(
            fields,
            "client-certificate-data",
            "client-certificate",
            directory,
        )?,
        client_key: pem(fields, "client-key-data", "client-key", directory)?,
        impersonate: fields.text("as")?,
        impersonate_uid: fields.text("as-uid")?,
        impersonate_groups: fields.texts("as-groups")?,
        impersonate_extra: fields
            .fields("as-user-extra")?
            .map_or_else(|| Ok(BTreeMap::new()), |extra| extra.lists())?,
        auth_provider: fields.fields("auth-provider")?.map(|it| auth_provider(&it)).transpose()?,
        exec: fields.fields("exec")?.map(|it| exec(&it, directory)).transpose()?,
    })
}

fn auth_provider(fields: &Fields<'_>) -> Result<AuthProvider, Pos> {
    let id_token = match fields.fields("config")? {
        Some(config) => config.text("id-token")?,
        None => None,
    };
    Ok(AuthProvider { name: fields.text("name")?.unwrap_or_default(), id_token })
}

fn exec(fields: &Fields<'_>, directory: Option<&Path>) -> Result<Exec, Pos> {
    let interactive = match fields.text("interactiveMode")?.as_deref() {
        None => Interactive::default(),
        Some("Never") => Interactive::Never,
        Some("IfAvailable") => Interactive::IfAvailable,
        Some("Always") => Interactive::Always,
        Some(_) => return Err(fields.pos_of("interactiveMode")),
    };
    let env = fields.list("env", |item| {
        let item = Fields::of(item)?;
        let value = item.scalar("value")?.unwrap_or_default();
        Ok((item.text("name")?.ok_or(item.pos())?, value))
    })?;
    Ok(Exec {
        api_version: fields.text("apiVersion")?,
        command: fields.text("command")?.map(|command| program(command, directory)),
        args: fields.texts("args")?,
        env,
        interactive,
        provide_cluster_info: fields.flag("provideClusterInfo")?,
    })
}

fn pem(
    fields: &Fields<'_>,
    data: &str,
    file: &str,
    directory: Option<&Path>,
) -> Result<Option<Pem>, Pos> {
    let file = fields.text(file)?.map(|path| Pem::File(absolute(path, directory)));
    Ok(fields.text(data)?.map(Pem::Data).or(file))
}

fn absolute(path: String, directory: Option<&Path>) -> PathBuf {
    match directory {
        Some(directory) => directory.join(path),
        None => path.into(),
    }
}

/// A name without a separator is looked up in `PATH`.
fn program(command: String, directory: Option<&Path>) -> String {
    if command.contains(path::is_separator) {
        absolute(command, directory).to_string_lossy().into_owned()
    } else {
        command
    }
}

#[cfg(test)]
mod tests;
