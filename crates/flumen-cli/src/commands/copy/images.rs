//! The container images that go along with an artifact.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use flumen_fs::StagedFiles;
use flumen_object::container_images;
use flumen_oci::{
    DOCKER_HUB, Location, Reference, Repository, Target,
    artifact::{self, PullOptions},
    copy::Copier,
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Serialize;

use super::{
    jobs::Job,
    places::{Places, Side},
};
use crate::{
    error::{CommandError, Failure},
    view::listing::to_yaml,
};

/// One image, as the lock file has it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct CopiedImage {
    /// As manifests name it.
    image: String,
    digest: String,
    copied_to: String,
}

#[derive(Debug, Serialize)]
struct Lock<'a> {
    images: &'a [CopiedImage],
}

/// Copies the images that the artifacts of all jobs name. All jobs go from one place to one other.
pub(super) async fn copy(
    jobs: &[Job],
    copier: &Copier,
    places: &Places,
    parallel: u16,
) -> Result<Vec<CopiedImage>, CommandError> {
    let Some(job) = jobs.first() else { return Ok(Vec::new()) };
    let mut names = BTreeSet::new();
    for job in jobs {
        names.extend(images_of(job).await?);
    }
    let routes = routes(names, &job.to)?;
    stream::iter(&routes)
        .map(|route| route.copy(&job.from, copier, places))
        .buffered(usize::from(parallel))
        .try_collect()
        .await
}

/// Writes which images were copied, in the order of their names.
pub(super) fn write_lock(path: &Path, images: &[CopiedImage]) -> Result<(), CommandError> {
    let text = to_yaml(&Lock { images })?;
    let mut files = StagedFiles::new();
    files.add(path, text.as_bytes()).map_err(CommandError::Output)?;
    files.commit().map_err(CommandError::Output)
}

async fn images_of(job: &Job) -> Result<Vec<String>, CommandError> {
    let pulled = artifact::pull(&job.from, &job.target, &PullOptions::default()).await?;
    let name = job.source.to_string();
    let objects = flumen_build::objects_of(&pulled.yaml, Path::new(&name))
        .map_err(|error| Failure::chain(&error))?;
    Ok(objects.iter().flat_map(container_images).map(|image| image.to_string()).collect())
}

/// An image and where it goes.
#[derive(Debug)]
struct Route {
    image: String,
    reference: Reference,
    to: Destination,
}

#[derive(Debug)]
enum Destination {
    /// The same path on another host.
    Registry(Reference),
    /// The layout, under the full name.
    Layout(Repository),
}

fn routes(names: BTreeSet<String>, to: &Repository) -> Result<Vec<Route>, CommandError> {
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    let mut routes = Vec::new();
    for image in names {
        let reference = parse(&image)?;
        let to = match to {
            Repository::Remote(remote) => {
                let host = remote.registry().host().to_owned();
                Destination::Registry(Reference { host, ..reference.clone() })
            }
            Repository::Layout(_) => Destination::Layout(to.clone()),
        };
        if let Destination::Registry(address) = &to
            && let Some(other) = taken.insert(address.to_string(), reference.to_string())
            && other != reference.to_string()
        {
            return Err(Failure::new(format!(
                "`{other}` and `{reference}` would both be {address}"
            ))
            .hint("copy to a layout, where images keep their full name")
            .into());
        }
        routes.push(Route { image, reference, to });
    }
    Ok(routes)
}

impl Route {
    async fn copy(
        &self,
        source: &Repository,
        copier: &Copier,
        places: &Places,
    ) -> Result<CopiedImage, CommandError> {
        let full_name = full_name(&self.reference);
        let (from, target) = match self.in_layout(source, &full_name).await? {
            Some(target) => (source.clone(), target),
            None => self.on_registry(places)?,
        };
        let (to, tag, copied_to) = match &self.to {
            Destination::Registry(address) => {
                let place = Location::Registry(address.clone());
                let to = places.open(&place, Side::Destination)?;
                (to, address.tag.clone(), address.to_string())
            }
            Destination::Layout(to) => (to.clone(), Some(full_name.clone()), to.to_string()),
        };
        let copied = copier.copy(&from, &target, &to, tag.as_deref()).await?;
        let digest = copied.descriptor.digest.to_string();
        Ok(CopiedImage { image: self.image.clone(), digest, copied_to })
    }

    /// The image in the source itself, if that is a layout which took it along.
    async fn in_layout(
        &self,
        source: &Repository,
        full_name: &str,
    ) -> Result<Option<Target>, CommandError> {
        let Repository::Layout(_) = source else { return Ok(None) };
        let target = Target::Tag(full_name.to_owned());
        match source.resolve(&target).await {
            Ok(_) => Ok(Some(target)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn on_registry(&self, places: &Places) -> Result<(Repository, Target), CommandError> {
        let place = Location::Registry(self.reference.clone());
        Ok((places.open(&place, Side::Image)?, self.reference.target()))
    }
}

/// `host/path:tag@digest`, which is the name of the image in a layout.
fn full_name(reference: &Reference) -> String {
    let text = reference.to_string();
    text.strip_prefix("oci://").map_or_else(|| text.clone(), str::to_owned)
}

/// Reads the name of an image as container runtimes do: the host may be missing, and so may the tag.
fn parse(image: &str) -> Result<Reference, CommandError> {
    let has_host = image
        .split_once('/')
        .is_some_and(|(first, _)| first.contains(['.', ':']) || first == "localhost");
    let name = if has_host { image.to_owned() } else { format!("{DOCKER_HUB}/{image}") };
    let reference = Reference::from_name(&name).map_err(|_| {
        CommandError::failure(format!("`{image}` is not the name of a container image"))
    })?;
    let mut reference = reference.complete();
    if reference.digest.is_none() && reference.tag.is_none() {
        reference.tag = Some("latest".to_owned());
    }
    Ok(reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_images_are_completed() {
        for (image, name) in [
            ("nginx", "docker.io/library/nginx:latest"),
            ("org/app:v1", "docker.io/org/app:v1"),
            ("docker.io/nginx:1", "docker.io/library/nginx:1"),
            ("localhost/app", "localhost/app:latest"),
            ("registry.example.com:5000/org/app:v1", "registry.example.com:5000/org/app:v1"),
        ] {
            assert_eq!(full_name(&parse(image).expect(image)), name);
        }
        assert!(parse("Not An Image").is_err());
    }
}
