//! Finds out what an artifact is, and reads its content into a sink.

use std::path::{Path, PathBuf};

use flumen_archive::{
    Compression, EntryLimits, FileEntry, Meter, Rules, Sink, UnpackError, UnpackOptions, safe_path,
    unpack,
};

use super::{
    PullOptions, annotations,
    layer::{check_size, name_of},
    text::Text,
    transfer::read_blocking,
};
use crate::{
    Descriptor, Digest, Document, Error, Index, Manifest, RawManifest, Repository, Result, Target,
    media_type,
};

/// Where an index is silent about what it is for, and where several platforms are offered.
const DEFAULT_PLATFORM: (&str, &str) = ("linux", "amd64");

const HELM_PREFIX: &str = "application/vnd.cncf.helm.";
const ORAS_CONFIG: &str = "artifact/nuon";
const ORAS_YAML: &str = "application/x-yaml";
const ORAS_FILE: &str = "manifest.yaml";
const ORAS_UNPACK: &str = "io.deis.oras.content.unpack";
const KUSTOMIZER_PREFIX: &str = "kustomizer.dev/";

const DEFAULT_MODE: u32 = 0o644;

/// An artifact whose manifest has been read and understood.
#[derive(Debug)]
pub(super) struct Found {
    /// What was asked for: an index, or the manifest itself.
    pub(super) digest: Digest,
    pub(super) raw: RawManifest,
    pub(super) manifest: Manifest,
    pub(super) layout: Layout,
}

/// How the content is laid out.
#[derive(Debug)]
pub(super) enum Layout {
    /// One text with a checksum: kustomizer's layout, and ours.
    Text { checksum: String, is_encrypted: bool },
    /// A tree of files, in the first layer.
    Tree(Compression),
    /// A file in each layer.
    Files(Vec<(PathBuf, Descriptor)>),
}

/// A manifest with layers, whatever they hold.
#[derive(Clone, Debug)]
pub struct Image {
    /// What was asked for: an index, or the manifest itself.
    pub digest: Digest,
    pub raw: RawManifest,
    pub manifest: Manifest,
}

impl Image {
    /// Reads the manifest; of an index the one for the default platform.
    pub async fn resolve(from: &Repository, target: &Target) -> Result<Self> {
        let first = from.manifest(target).await?;
        Self::of(from, first).await
    }

    /// The same from what was read already.
    pub async fn of(from: &Repository, first: RawManifest) -> Result<Self> {
        let digest = first.digest().clone();
        let index = match parse(&first)? {
            Document::Manifest(manifest) => return Ok(Self { digest, raw: first, manifest }),
            Document::Index(index) => index,
        };
        let chosen = choose(&index, &digest)?;
        let raw = from.manifest(&Target::Digest(chosen.digest.clone())).await?;
        match parse(&raw)? {
            Document::Manifest(manifest) => Ok(Self { digest, raw, manifest }),
            Document::Index(_) => Err(Error::InvalidManifest {
                digest,
                reason: "it is an index of an index".to_owned(),
            }),
        }
    }
}

impl Found {
    /// Reads the manifest; of an index the one for the default platform.
    pub(super) async fn resolve(from: &Repository, target: &Target) -> Result<Self> {
        let Image { digest, raw, manifest } = Image::resolve(from, target).await?;
        let layout = Layout::of(&raw, &manifest)?;
        Ok(Self { digest, raw, manifest, layout })
    }

    /// The text of all manifests.
    pub(super) async fn text(&self, from: &Repository, options: &PullOptions) -> Result<Text> {
        let text = match &self.layout {
            Layout::Tree(_) => Text::of_manifests(),
            Layout::Files(files) if files.len() > 1 => Text::of_file(Path::new(ORAS_FILE)),
            Layout::Files(_) | Layout::Text { .. } => Text::of_all_files(),
        };
        self.read(from, options, text).await
    }

    /// All files, into a sink that nobody looks at yet.
    pub(super) async fn read<S: Sink + Send + 'static>(
        &self,
        from: &Repository,
        options: &PullOptions,
        mut sink: S,
    ) -> Result<S> {
        let PullOptions { budget, watch, .. } = options;
        let mut meter = Meter::new(*budget);
        if let Layout::Files(files) = &self.layout {
            for (path, layer) in files {
                let archive = name_of(&layer.digest);
                meter.charge(&archive, layer.size)?;
                meter.reserve(&archive, path)?;
                if !sink.wants(path) {
                    continue;
                }
                let path = path.clone();
                watch.found(layer.size);
                let content = watch.over(from.blob(layer).await?);
                sink = read_blocking(content, move |content| {
                    let entry = FileEntry { path: &path, mode: DEFAULT_MODE };
                    match sink.file(&entry, content) {
                        Ok(()) => Ok(sink),
                        Err(error) => {
                            Err(UnpackError::Invalid { archive, reason: error.to_string() }.into())
                        }
                    }
                })
                .await?;
            }
            return Ok(sink);
        }

        let compression = match &self.layout {
            Layout::Tree(compression) => *compression,
            _ => Compression::Gzip,
        };
        let layer = self.first_layer()?;
        // What is larger than its content may be does not have to come first.
        check_size(layer, *budget)?;
        let archive = name_of(&layer.digest);
        watch.found(layer.size);
        let content = watch.over(from.blob(layer).await?);
        read_blocking(content, move |content| {
            let options = UnpackOptions::gzip(&archive, Rules::Strict);
            let options = UnpackOptions { compression, ..options };
            unpack(content, &options, &mut meter, &mut sink)?;
            Ok(sink)
        })
        .await
    }

    fn first_layer(&self) -> Result<&Descriptor> {
        let none = || Error::NoLayers { digest: self.raw.digest().clone() };
        self.manifest.layers.first().ok_or_else(none)
    }
}

impl Layout {
    fn of(raw: &RawManifest, manifest: &Manifest) -> Result<Self> {
        let digest = raw.digest();
        let first =
            manifest.layers.first().ok_or_else(|| Error::NoLayers { digest: digest.clone() })?;
        let config = manifest.config.media_type.as_str();
        if config.starts_with(HELM_PREFIX) || first.media_type.starts_with(HELM_PREFIX) {
            let found = "a Helm chart".to_owned();
            return Err(Error::NotManifests { digest: digest.clone(), found });
        }
        if config == media_type::FLUX_CONFIG {
            return match compression_of(&first.media_type) {
                Some(compression) => Ok(Self::Tree(compression)),
                None => Self::single_file(first),
            };
        }
        let is_ours = manifest.artifact_type.as_deref() == Some(media_type::FLUMEN_MANIFESTS)
            || manifest.annotations.keys().any(|key| key.starts_with(KUSTOMIZER_PREFIX));
        if is_ours || raw.descriptor.media_type == media_type::DOCKER_MANIFEST {
            return Self::text(manifest, digest);
        }
        if config == ORAS_CONFIG || manifest.layers.iter().any(|l| l.media_type == ORAS_YAML) {
            return Self::files(manifest);
        }
        tree(first)
    }

    fn text(manifest: &Manifest, digest: &Digest) -> Result<Self> {
        let annotation = |name: &'static str| {
            let missing = || Error::AnnotationNotFound { digest: digest.clone(), name };
            manifest.annotations.get(name).ok_or_else(missing)
        };
        annotation(annotations::VERSION)?;
        annotation(annotations::KUSTOMIZER_CREATED)?;
        let checksum = annotation(annotations::CHECKSUM)?.clone();
        let encryption = manifest.annotations.get(annotations::ENCRYPTED).map(String::as_str);
        if !matches!(encryption, None | Some(annotations::AGE)) {
            return Err(Error::Undecryptable {
                digest: digest.clone(),
                reason: "its encryption is unknown".to_owned(),
            });
        }
        if let Some(layer) = manifest.layers.first()
            && compression_of(&layer.media_type) != Some(Compression::Gzip)
        {
            return Err(unsupported(layer));
        }
        Ok(Self::Text { checksum, is_encrypted: encryption.is_some() })
    }

    /// One file in each layer, under the name that its title says.
    fn files(manifest: &Manifest) -> Result<Self> {
        let mut files = Vec::with_capacity(manifest.layers.len());
        for layer in &manifest.layers {
            let Some(title) = layer.annotations.get(annotations::TITLE) else { continue };
            let path = path_of(title, layer)?;
            if layer.annotations.get(ORAS_UNPACK).is_some_and(|value| value == "true") {
                return Err(unsupported(layer));
            }
            files.push((path, layer.clone()));
        }
        if !files.iter().any(|(path, _)| path == Path::new(ORAS_FILE)) {
            return Err(Error::NoManifestFile);
        }
        Ok(Self::Files(files))
    }

    /// A layer that is the file itself, as `flux push artifact` makes them of single files.
    fn single_file(layer: &Descriptor) -> Result<Self> {
        let Some(rest) = layer.media_type.strip_prefix(media_type::FLUX_CONTENT) else {
            return Err(unsupported(layer));
        };
        let extension = rest.strip_prefix('.').filter(|rest| !rest.is_empty()).unwrap_or("yaml");
        let name = match layer.annotations.get(annotations::TITLE) {
            Some(title) => title.clone(),
            None => format!("manifest.{extension}"),
        };
        let path = path_of(&name, layer)?;
        Ok(Self::Files(vec![(path, layer.clone())]))
    }
}

/// Any other image, by its first layer.
fn tree(layer: &Descriptor) -> Result<Layout> {
    compression_of(&layer.media_type).map(Layout::Tree).ok_or_else(|| unsupported(layer))
}

fn compression_of(media_type: &str) -> Option<Compression> {
    match media_type.rsplit_once("tar")?.1 {
        "+gzip" | ".gzip" => Some(Compression::Gzip),
        "" => Some(Compression::None),
        _ => None,
    }
}

/// Returns the path of the file that a layer holds.
fn path_of(name: &str, layer: &Descriptor) -> Result<PathBuf> {
    Ok(safe_path(&name_of(&layer.digest), name.as_bytes(), &EntryLimits::default())?)
}

fn unsupported(layer: &Descriptor) -> Error {
    Error::UnsupportedLayer { digest: layer.digest.clone(), media_type: layer.media_type.clone() }
}

/// Reads a manifest and refuses one that means two things: what the registry calls it, and what it
/// calls itself, must agree.
fn parse(raw: &RawManifest) -> Result<Document> {
    let document = raw.parse()?;
    let own = match &document {
        Document::Manifest(manifest) => &manifest.media_type,
        Document::Index(index) => &index.media_type,
    };
    match own {
        Some(own) if *own != raw.descriptor.media_type => Err(Error::InvalidManifest {
            digest: raw.digest().clone(),
            reason: "its media type is another one than the registry says".to_owned(),
        }),
        _ => Ok(document),
    }
}

fn choose<'i>(index: &'i Index, digest: &Digest) -> Result<&'i Descriptor> {
    let is_default = |descriptor: &&Descriptor| {
        descriptor.platform.as_ref().is_some_and(|platform| {
            (platform.os.as_str(), platform.architecture.as_str()) == DEFAULT_PLATFORM
        })
    };
    match index.manifests.as_slice() {
        [only] => Some(only),
        several => several.iter().find(is_default),
    }
    .ok_or_else(|| Error::NoPlatform { digest: digest.clone() })
}
