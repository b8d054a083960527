//! The install that a command is about: its file, its cluster and its registry.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use clap::Args;
use flumen_kube::{Client, ConnectOptions};
use flumen_oci::{Repository, signature::Policy};
use flumen_pipeline::{
    Artifact, State,
    config::Component,
    deploy::Site,
    graph::{Graph, GraphError},
    install::{Install, SignaturePolicy},
};
use flumen_sign::{Identity, Pattern, Trust};
use jiff::Timestamp;

use super::{registries::SourceRegistries, selection::Selection};
use crate::{
    args::{env, key_files, registry::RegistryArgs},
    error::{CommandError, Failure},
    ui::Ui,
};

type Named = BTreeMap<String, Component>;

#[derive(Debug, Args)]
pub(super) struct SiteArgs {
    #[command(flatten)]
    selection: Selection,

    /// Install to work on: the name of its file without `.toml`
    #[arg(short, long, value_name = "ID")]
    install: String,

    /// Directory of the install files
    #[arg(long, value_name = "DIR", default_value = "installs")]
    installs: PathBuf,

    #[command(flatten)]
    registry: RegistryArgs,
}

/// Everything that is opened for a command.
pub(super) struct OpenSite {
    pub(super) install: Install,
    pub(super) components: Named,
    /// The components that were asked for.
    pub(super) selected: BTreeSet<String>,
    pub(super) graph: Graph,
    pub(super) state: State,
    components_dir: PathBuf,
    client: Client,
    repository: Repository,
    registries: SourceRegistries,
    signatures: Option<Policy>,
    by: String,
}

impl SiteArgs {
    pub(super) async fn open(&self, ui: &Ui) -> Result<OpenSite, CommandError> {
        let (components, selected, graph) = self.load(ui)?;
        let install = Install::load(&self.installs, &self.install)?;
        let state = env::state()?;
        let repository = match &install.registry {
            Some(reference) => self.registry.open(reference)?,
            None => state.store()?,
        };
        let client = connect(&install).await?;
        Ok(OpenSite {
            components,
            selected,
            graph,
            components_dir: self.selection.dir().to_owned(),
            client,
            repository,
            registries: SourceRegistries::new(&self.registry, None)?,
            signatures: signatures(&install)?,
            by: env::author(),
            install,
            state,
        })
    }

    /// Reads the component files again.
    pub(super) fn reload(&self, open: &mut OpenSite, ui: &Ui) -> Result<(), CommandError> {
        (open.components, open.selected, open.graph) = self.load(ui)?;
        Ok(())
    }

    fn load(&self, ui: &Ui) -> Result<(Named, BTreeSet<String>, Graph), CommandError> {
        let (components, selected) = self.selection.load_all(ui)?;
        let graph = Graph::new(components.values()).map_err(|error| unordered(&error))?;
        Ok((components, selected, graph))
    }
}

impl OpenSite {
    /// Whose plans somebody looks at.
    pub(super) fn site(&self) -> Site<'_, Client> {
        Site {
            cluster: &self.client,
            install: &self.install,
            components: &self.components,
            components_dir: &self.components_dir,
            state: &self.state,
            registries: &self.registries,
            repository: &self.repository,
            signatures: self.signatures.as_ref(),
            approves_all: false,
            allows_large_prune: false,
            by: &self.by,
            now: Timestamp::now,
        }
    }

    pub(super) fn last_build(&self, component: &str) -> Result<Option<Artifact>, CommandError> {
        Ok(self.state.last_build(&self.components_dir, component)?)
    }

    /// The one component that was asked for.
    pub(super) fn only_component(&self) -> Result<&Component, CommandError> {
        let mut selected = self.selected.iter().filter_map(|name| self.components.get(name));
        match (selected.next(), selected.next()) {
            (Some(component), None) => Ok(component),
            _ => Err(Failure::new("this is about one component at a time")
                .hint("name it: `flumen component rollback web --install ID`")
                .into()),
        }
    }
}

async fn connect(install: &Install) -> Result<Client, CommandError> {
    let options = ConnectOptions {
        kubeconfig: install.cluster.kubeconfig.clone(),
        search: env::kubeconfigs(),
        context: install.cluster.context.clone(),
        ..ConnectOptions::default()
    };
    Client::connect(&options).await.map_err(|error| {
        let failure = Failure::chain(&error).within(format!("connecting to `{}`", install.id));
        match error.hint() {
            Some(hint) => failure.hint(hint).into(),
            None => failure.into(),
        }
    })
}

/// Whose signatures the install wants, if it looks at them.
fn signatures(install: &Install) -> Result<Option<Policy>, CommandError> {
    let wanted = &install.signatures;
    if wanted.policy == SignaturePolicy::Off {
        return Ok(None);
    }
    let keys = wanted.keys.iter().map(|path| key_files::public_key(path));
    let certificates = wanted.certificates.as_ref();
    let trust = Trust {
        keys: keys.collect::<Result<_, _>>()?,
        root: certificates.map(|it| key_files::trusted_root(&it.trusted_root)).transpose()?,
        identity: certificates.map(|it| Identity {
            subject: Pattern::Exact(it.identity.clone()),
            issuer: Pattern::Exact(it.issuer.clone()),
        }),
    };
    Ok(Some(Policy { trust, signed_as: wanted.signed_as.clone() }))
}

fn unordered(error: &GraphError) -> CommandError {
    let failure = Failure::new(error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint).into(),
        None => failure.into(),
    }
}
