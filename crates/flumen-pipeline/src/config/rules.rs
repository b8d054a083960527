//! The rules of component files, in the order in which they are checked.
//!
//! The texts are part of the format: programs that check components elsewhere use the same.

use std::{collections::BTreeSet, path::Path, time::Duration};

use flumen_fs::{Bounds, DiskTree, Tree, clean};
use flumen_git::GitReference;
use flumen_oci::{Digest, Reference, Target};
use jiff::SignedDuration;

use super::{
    ConfigError,
    component::{Component, Inline, Kustomize, OciArtifact, RepositorySource, Source},
    format::{COMPONENT_TYPE, ComponentFile, OciArtifactTable, RepoTable},
    places::Places,
    read::Parsed,
};
use crate::{schedule::parse_schedule, template::components_in};

const LONGEST_TIMEOUT: Duration = Duration::from_hours(1);
const BUILD_TIMEOUT: Duration = Duration::from_mins(5);
const DEPLOY_TIMEOUT: Duration = Duration::from_mins(15);
const LONGEST_NAME: usize = 63;

/// Turns what a file says into a component, or names the first rule that it breaks.
pub(super) fn check(file: &Path, parsed: Parsed) -> Result<Component, ConfigError> {
    let Parsed { config, places, manifest_line } = parsed;
    let rules = Rules { file, config: &config, places: &places, manifest_line };
    rules.check_identity()?;
    let source = rules.source()?;
    rules.check_drift_schedule()?;
    let build_timeout = rules.timeout("build_timeout", &config.build_timeout, BUILD_TIMEOUT)?;
    let deploy_timeout = rules.timeout("deploy_timeout", &config.deploy_timeout, DEPLOY_TIMEOUT)?;
    if let Some(health) = &config.health {
        let key = "health.stabilization_window";
        rules.timeout(key, &health.stabilization_window, Duration::ZERO)?;
    }
    let dependencies = rules.dependencies(&source);
    let name_pos = places.find("name");
    let config = ComponentFile { dependencies, ..config };
    Ok(Component {
        checksum: checksum(&config, &source),
        file: file.to_owned(),
        name_pos,
        config,
        source,
        build_timeout,
        deploy_timeout,
    })
}

struct Rules<'a> {
    file: &'a Path,
    config: &'a ComponentFile,
    places: &'a Places,
    manifest_line: Option<u32>,
}

impl Rules<'_> {
    fn error(&self, key: &str, message: impl Into<String>) -> ConfigError {
        ConfigError::new(self.file, self.places.find(key), message)
    }

    fn check_identity(&self) -> Result<(), ConfigError> {
        let ComponentFile { name, kind, namespace, .. } = self.config;
        if name.is_empty() {
            return Err(self.error("name", "name is required"));
        }
        if !is_name(name) {
            let message = "name may only have letters, digits, `_` and `-`, and 63 of them";
            return Err(self.error("name", message).hint("it begins with a letter or a digit"));
        }
        if kind.is_empty() {
            let error = self.error("type", "type is required");
            return Err(error.hint(format!("write type = \"{COMPONENT_TYPE}\"")));
        }
        if kind != COMPONENT_TYPE {
            let error = self.error("type", format!("type must be '{COMPONENT_TYPE}'"));
            return Err(error.hint("components of other types are not available"));
        }
        if namespace.is_empty() {
            return Err(self.error("namespace", "namespace is required"));
        }
        Ok(())
    }

    fn source(&self) -> Result<Source, ConfigError> {
        let ComponentFile { manifest, kustomize, oci_artifact, .. } = self.config;
        match (manifest.as_str(), kustomize, oci_artifact) {
            ("", None, None) => {
                let error = self.error("", "one of 'manifest' or 'kustomize' must be specified");
                Err(error.hint("an artifact that exists already is named in `oci_artifact`"))
            }
            ("", Some(_), None) => self.kustomize().map(Source::Kustomize),
            ("", None, Some(table)) => {
                self.refuse_repositories("oci_artifact")?;
                self.oci_artifact(table).map(Source::OciArtifact)
            }
            (_, None, None) => {
                self.refuse_repositories("inline manifests")?;
                self.inline().map(Source::Inline)
            }
            (_, Some(_), None) => {
                Err(self
                    .error("kustomize", "only one of 'manifest' or 'kustomize' can be specified"))
            }
            (_, _, Some(_)) => Err(self.error(
                "oci_artifact",
                "only one of 'manifest', 'kustomize' or 'oci_artifact' can be specified",
            )),
        }
    }

    /// Repositories have a meaning beside `kustomize` only.
    fn refuse_repositories(&self, instead: &str) -> Result<(), ConfigError> {
        let key = match (&self.config.public_repo, &self.config.connected_repo) {
            (None, None) => return Ok(()),
            (Some(_), _) => "public_repo",
            (None, Some(_)) => "connected_repo",
        };
        Err(self.error(
            key,
            format!(
                "'public_repo' and 'connected_repo' are only valid with kustomize, not {instead}"
            ),
        ))
    }

    fn inline(&self) -> Result<Inline, ConfigError> {
        let manifest = &self.config.manifest;
        if !manifest.starts_with("./") {
            let text = manifest.clone();
            return Ok(Inline { text, file: None, first_line: self.manifest_line });
        }
        let unreadable = |reason: String| self.error("manifest", reason);
        let dir = self.file.parent().unwrap_or(Path::new("."));
        let path = clean(&dir.join(manifest)).into_owned();
        // Files may lie beside the directory of the components, not anywhere on the machine.
        let root =
            DiskTree.real_dir(&dir.join("..")).map_err(|error| unreadable(error.to_string()))?;
        let content = DiskTree
            .read(&path, Bounds::Within(&root))
            .map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(content)
            .map_err(|_| unreadable(format!("`{}` is not UTF-8", path.display())))?;
        Ok(Inline { text, file: Some(path), first_line: Some(1) })
    }

    fn kustomize(&self) -> Result<Kustomize, ConfigError> {
        let table = self.config.kustomize.clone().unwrap_or_default();
        if table.path.is_empty() {
            return Err(self.error("kustomize.path", "kustomize.path is required"));
        }
        let repository = match (&self.config.public_repo, &self.config.connected_repo) {
            (None, None) => {
                return Err(self.error(
                    "kustomize",
                    "kustomize requires either 'public_repo' or 'connected_repo' to be specified",
                ));
            }
            (Some(_), Some(_)) => {
                return Err(self.error(
                    "connected_repo",
                    "only one of 'public_repo' or 'connected_repo' can be specified",
                ));
            }
            (Some(repo), None) => self.repository("public_repo", repo, false)?,
            (None, Some(repo)) => self.repository("connected_repo", repo, true)?,
        };
        self.check_inside("kustomize.path", &table.path)?;
        for (index, patch) in table.patches.iter().enumerate() {
            self.check_inside(&format!("kustomize.patches[{index}]"), patch)?;
        }
        Ok(Kustomize {
            path: table.path,
            patches: table.patches,
            enable_helm: table.enable_helm,
            load_restrictor: table.load_restrictor,
            repository,
        })
    }

    fn repository(
        &self,
        key: &str,
        table: &RepoTable,
        is_connected: bool,
    ) -> Result<RepositorySource, ConfigError> {
        if table.repo.is_empty() {
            return Err(self.error(&format!("{key}.repo"), format!("{key}.repo is required")));
        }
        self.check_inside(&format!("{key}.directory"), &table.directory)?;
        let named = [("branch", &table.branch), ("tag", &table.tag), ("commit", &table.commit)];
        let mut named = named.into_iter().filter(|(_, value)| !value.is_empty());
        let revision = match named.next() {
            None => GitReference::Default,
            Some(("branch", name)) => GitReference::Branch(name.clone()),
            Some(("tag", name)) => GitReference::Tag(name.clone()),
            Some((_, name)) => GitReference::Commit(name.clone()),
        };
        if let Some((other, _)) = named.next() {
            let message = "only one of 'branch', 'tag' or 'commit' can be specified";
            return Err(self.error(&format!("{key}.{other}"), message));
        }
        Ok(RepositorySource {
            repo: table.repo.clone(),
            directory: table.directory.clone(),
            revision,
            is_connected,
        })
    }

    /// A path in a repository stays in it.
    fn check_inside(&self, key: &str, path: &str) -> Result<(), ConfigError> {
        let cleaned = clean(Path::new(path));
        if cleaned.is_absolute() || cleaned.starts_with("..") {
            let error = self.error(key, format!("`{path}` leaves the source root"));
            return Err(error.hint("paths are relative to the root and stay below it"));
        }
        Ok(())
    }

    fn oci_artifact(&self, table: &OciArtifactTable) -> Result<OciArtifact, ConfigError> {
        let key = "oci_artifact.url";
        if table.url.is_empty() {
            return Err(self.error(key, "oci_artifact.url is required"));
        }
        let reference: Reference = table.url.parse().map_err(|_| {
            self.error(key, "URL must be in format 'oci://<domain>/<org>/<repo>'")
                .hint("an example: oci://registry.example.com/org/app")
        })?;
        if reference.tag.is_some() || reference.digest.is_some() {
            let error = self.error(key, "oci_artifact.url names a tag or digest");
            return Err(error.hint("use `oci_artifact.tag` or `oci_artifact.digest`"));
        }
        let target = if table.digest.is_empty() {
            let tag = if table.tag.is_empty() { "latest" } else { &table.tag };
            if Reference::from_name(&format!("{}:{tag}", reference.name())).is_err() {
                return Err(self.error("oci_artifact.tag", format!("`{tag}` is not a tag")));
            }
            Target::Tag(tag.to_owned())
        } else {
            let digest: Digest = table.digest.parse().map_err(|error: flumen_oci::Error| {
                self.error("oci_artifact.digest", error.to_string())
            })?;
            Target::Digest(digest)
        };
        let credentials_ref = Some(table.credentials_ref.clone()).filter(|name| !name.is_empty());
        Ok(OciArtifact { reference, target, credentials_ref })
    }

    fn check_drift_schedule(&self) -> Result<(), ConfigError> {
        let schedule = &self.config.drift_schedule;
        if schedule.is_empty() || parse_schedule(schedule).is_some() {
            return Ok(());
        }
        let error = self.error("drift_schedule", "invalid drift schedule");
        Err(error.hint("five cron fields in UTC are wanted, such as `0 2 * * *`"))
    }

    fn timeout(&self, key: &str, text: &str, default: Duration) -> Result<Duration, ConfigError> {
        if text.is_empty() {
            return Ok(default);
        }
        let duration = parse_duration(text).ok_or_else(|| {
            self.error(key, format!("{key} is not a duration")).hint("write it as 90s, 5m or 1h")
        })?;
        if duration > LONGEST_TIMEOUT {
            return Err(self.error(key, format!("{key} is at most 1h")));
        }
        Ok(duration)
    }

    /// What was listed and what templates refer to, sorted, each once.
    fn dependencies(&self, source: &Source) -> Vec<String> {
        let config = serde_json::to_string(self.config).unwrap_or_default();
        let text = match source {
            Source::Inline(inline) => inline.text.as_str(),
            _ => "",
        };
        let mut names: BTreeSet<&str> =
            self.config.dependencies.iter().map(String::as_str).collect();
        names.extend(components_in(&config));
        names.extend(components_in(text));
        names.remove(self.config.name.as_str());
        names.into_iter().map(str::to_owned).collect()
    }
}

/// What components and installs may be called.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Reads a positive duration such as `90s`, `5m` or `1h30m`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let duration = Duration::try_from(text.parse::<SignedDuration>().ok()?).ok()?;
    (!duration.is_zero()).then_some(duration)
}

/// Tells one version of a configuration from the next.
///
/// Empty keys are left out when it is written, so a key that is new to the format changes no
/// checksum until somebody uses it. A manifest in a file of its own counts with its content.
fn checksum(config: &ComponentFile, source: &Source) -> Digest {
    let mut text = serde_json::to_vec(config).unwrap_or_default();
    if let Source::Inline(Inline { text: manifest, file: Some(_), .. }) = source {
        text.extend_from_slice(manifest.as_bytes());
    }
    Digest::of(&text)
}
