//! The plan of a build: all that a runner is told about it.
//!
//! It is made from a component and names things by address, so that whoever executes it needs no
//! component file.

use std::{collections::BTreeMap, fmt, path::Path};

use flumen_fs::clean;
use flumen_git::{GitReference, GitUrl};
use flumen_kustomize::LoadRestriction;
use serde::{Deserialize, Serialize};

use crate::{
    BuildId, Error, Result,
    config::{Component, Kustomize, LoadRestrictor, OciArtifactTable, RepositorySource, Source},
    state::unusable,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildPlan {
    pub component_id: String,
    pub component_build_id: BuildId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_source: Option<GitSource>,
    /// The repository that the artifact goes to, or the local store.
    pub dst_registry: String,
    pub dst_tag: String,
    pub kubernetes_manifest_build_plan: ManifestPlan,
}

/// A state of a repository, and the source root in it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitSource {
    /// An http(s) URL or an absolute path.
    pub url: String,
    /// A full name (`refs/heads/main`), a commit, or empty for what the repository itself points at.
    #[serde(rename = "ref")]
    pub reference: String,
    pub path: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestPlan {
    pub labels: BTreeMap<String, String>,
    pub source_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inline_manifest: Option<InlineManifest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kustomize_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kustomize_config: Option<KustomizeConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oci_artifact_source: Option<OciArtifactTable>,
}

/// Documents that are packed as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InlineManifest {
    pub text: String,
    /// What messages name: a file, or the key in it if lines of the text are not lines of the file.
    pub file: String,
    /// The line of the file that the text begins on.
    pub first_line: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KustomizeConfig {
    pub patches: Vec<String>,
    pub enable_helm: bool,
    pub load_restrictor: LoadRestrictor,
}

/// What a plan builds from, after it was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work<'a> {
    Inline(&'a InlineManifest),
    Kustomize { source: &'a GitSource, path: &'a str, config: &'a KustomizeConfig },
    OciArtifact(&'a OciArtifactTable),
}

impl BuildPlan {
    /// Plans the build of a component. `repos` has the addresses of connected repositories.
    pub fn new(
        component: &Component,
        id: BuildId,
        destination: &str,
        repos: &BTreeMap<String, String>,
    ) -> Result<Self> {
        let labels =
            [("component_id", component.name().to_owned()), ("component_build_id", id.to_string())];
        let mut plan = ManifestPlan {
            labels: labels.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            source_type: component.source.kind().to_owned(),
            ..ManifestPlan::default()
        };
        let mut git_source = None;
        match &component.source {
            Source::Inline(inline) => {
                let file = inline.file.as_ref().unwrap_or(&component.file).display();
                plan.inline_manifest = Some(InlineManifest {
                    text: inline.text.clone(),
                    file: match inline.first_line {
                        Some(_) => file.to_string(),
                        None => format!("{file}: manifest"),
                    },
                    first_line: inline.first_line.unwrap_or(1),
                });
            }
            Source::Kustomize(kustomize) => {
                git_source = Some(git_source_of(&component.file, &kustomize.repository, repos)?);
                plan.kustomize_path = Some(kustomize.path.clone());
                plan.kustomize_config = Some(KustomizeConfig::of(kustomize));
            }
            Source::OciArtifact(_) => {
                plan.oci_artifact_source.clone_from(&component.config.oci_artifact);
            }
        }
        Ok(Self {
            component_id: component.name().to_owned(),
            component_build_id: id,
            git_source,
            dst_registry: destination.to_owned(),
            dst_tag: id.to_string(),
            kubernetes_manifest_build_plan: plan,
        })
    }

    /// What there is to do; an error if the plan does not hang together.
    pub(crate) fn work(&self) -> Result<Work<'_>> {
        let plan = &self.kubernetes_manifest_build_plan;
        match plan.source_type.as_str() {
            "inline" => {
                let inline = plan.inline_manifest.as_ref();
                inline.map(Work::Inline).ok_or(Error::IncompletePlan("inline manifest"))
            }
            "kustomize" => Ok(Work::Kustomize {
                source: self.git_source.as_ref().ok_or(Error::IncompletePlan("git source"))?,
                path: plan
                    .kustomize_path
                    .as_deref()
                    .ok_or(Error::IncompletePlan("kustomize path"))?,
                config: plan
                    .kustomize_config
                    .as_ref()
                    .ok_or(Error::IncompletePlan("kustomize configuration"))?,
            }),
            "oci_artifact" => {
                let artifact = plan.oci_artifact_source.as_ref();
                artifact.map(Work::OciArtifact).ok_or(Error::IncompletePlan("artifact source"))
            }
            other => Err(Error::UnsupportedSource(other.to_owned())),
        }
    }
}

impl KustomizeConfig {
    fn of(kustomize: &Kustomize) -> Self {
        Self {
            patches: kustomize.patches.clone(),
            enable_helm: kustomize.enable_helm,
            load_restrictor: kustomize.load_restrictor,
        }
    }

    pub(crate) const fn load_restriction(&self) -> LoadRestriction {
        match self.load_restrictor {
            LoadRestrictor::RootOnly => LoadRestriction::RootOnly,
            LoadRestrictor::None => LoadRestriction::None,
        }
    }
}

/// The URL may hold a password.
impl fmt::Debug for GitSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitSource")
            .field("url", &GitUrl::parse(&self.url).map(|url| url.to_string()))
            .field("reference", &self.reference)
            .field("path", &self.path)
            .finish()
    }
}

impl GitSource {
    pub(crate) fn reference(&self) -> GitReference {
        match self.reference.as_str() {
            "" => GitReference::Default,
            name => GitReference::Name(name.to_owned()),
        }
    }
}

fn git_source_of(
    file: &Path,
    repository: &RepositorySource,
    repos: &BTreeMap<String, String>,
) -> Result<GitSource> {
    let address = if repository.is_connected {
        let name = &repository.repo;
        repos.get(name).ok_or_else(|| Error::NotConnected { name: name.clone() })?
    } else {
        &repository.repo
    };
    let url = match GitUrl::parse(address)? {
        // Paths in a file are relative to it.
        GitUrl::Local(path) => {
            let path = file.parent().unwrap_or(Path::new("")).join(path);
            let path = std::path::absolute(&path).map_err(|source| unusable(&path, source))?;
            clean(&path).display().to_string()
        }
        GitUrl::Remote(_) => address.clone(),
    };
    Ok(GitSource {
        url,
        reference: match &repository.revision {
            GitReference::Default => String::new(),
            GitReference::Branch(name) => format!("refs/heads/{name}"),
            GitReference::Tag(name) => format!("refs/tags/{name}"),
            GitReference::Commit(name)
            | GitReference::CommitOf { commit: name, .. }
            | GitReference::Full(name)
            | GitReference::Semver(name)
            | GitReference::Name(name) => name.clone(),
        },
        path: repository.directory.clone(),
    })
}
