//! Which copies are to be made.

use std::{fs::File, io::Read as _, path::Path};

use flumen_oci::{Location, Repository, Target, copy::Copier};

use super::{
    ArtifactArgs,
    places::{Places, Side},
};
use crate::error::{CommandError, Failure};

/// A list of half a million copies is one that someone meant.
const MAX_LIST_BYTES: u64 = 64 << 20;

/// One artifact on its way.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) source: Location,
    pub(super) from: Repository,
    pub(super) target: Target,
    /// With the tag that it will have.
    pub(super) destination: Location,
    pub(super) to: Repository,
}

/// What the arguments ask for.
pub(super) async fn jobs(
    args: &ArtifactArgs,
    places: &Places,
    copier: &Copier,
) -> Result<Vec<Job>, CommandError> {
    if let Some(file) = &args.from_file {
        return listed(file, places).await;
    }
    // clap lets nobody come here without them.
    let (Some(source), Some(destination)) = (&args.source, &args.destination) else {
        return Ok(Vec::new());
    };
    if args.all_tags {
        return all_tags(source, destination, places, copier).await;
    }
    if let Location::Disk(_) = destination {
        // No layout is begun for what cannot be read.
        let target = target(source, places).await?;
        places.open(source, Side::Source)?.manifest(&target).await?;
    }
    Ok(vec![job(source.clone(), destination.clone(), places).await?])
}

/// Fills in what is not written: the only artifact of a layout, and the source's tag at the destination.
async fn job(
    source: Location,
    destination: Location,
    places: &Places,
) -> Result<Job, CommandError> {
    if destination.digest().is_some() {
        return Err(Failure::new(format!("`{destination}`: a destination has no digest"))
            .hint("what arrives has the digest of the source")
            .into());
    }
    let target = target(&source, places).await?;
    let tag = match (destination.tag(), source.tag(), &target) {
        (Some(tag), ..) | (None, Some(tag), _) => Some(tag),
        (None, None, Target::Tag(tag)) => Some(tag.as_str()),
        (None, None, Target::Digest(_)) => None,
    };
    let destination = destination.with_tag(tag);
    Job::open(source, target, destination, places)
}

/// What a source names, written or not.
async fn target(source: &Location, places: &Places) -> Result<Target, CommandError> {
    Ok(match (source.target(), source) {
        (Some(target), _) => target,
        (None, Location::Registry(reference)) => reference.target(),
        (None, Location::Disk(disk)) => places.layout(disk, Side::Source)?.sole_target().await?,
    })
}

impl Job {
    fn open(
        source: Location,
        target: Target,
        destination: Location,
        places: &Places,
    ) -> Result<Self, CommandError> {
        let from = places.open(&source, Side::Source)?;
        let to = places.open(&destination, Side::Destination)?;
        Ok(Self { source, from, target, destination, to })
    }
}

async fn all_tags(
    source: &Location,
    destination: &Location,
    places: &Places,
    copier: &Copier,
) -> Result<Vec<Job>, CommandError> {
    if source.target().is_some() || destination.target().is_some() {
        let message = "`--all-tags` copies every tag, so neither place may name one";
        return Err(CommandError::failure(message));
    }
    let tags = copier.artifact_tags(&places.open(source, Side::Source)?).await?;
    let job = |tag: String| {
        let (from, to) = (source.with_tag(Some(&tag)), destination.with_tag(Some(&tag)));
        Job::open(from, Target::Tag(tag), to, places)
    };
    tags.into_iter().map(job).collect()
}

/// Reads lines of a source and a destination. Empty lines and those that begin with `#` are left out.
async fn listed(path: &Path, places: &Places) -> Result<Vec<Job>, CommandError> {
    let text = read(path)?;
    let mut jobs = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let pair = pair(line).map_err(|message| {
            let line = u32::try_from(number + 1).unwrap_or(u32::MAX);
            CommandError::from(Failure::new(message).at(path, flumen_yaml::Pos::new(line, 1)))
        })?;
        jobs.push(job(pair.0, pair.1, places).await?);
    }
    Ok(jobs)
}

fn pair(line: &str) -> Result<(Location, Location), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [source, destination] = words[..] else {
        return Err("a line has a source and a destination, with a space between".to_owned());
    };
    let parse = |text: &str| text.parse::<Location>().map_err(|error| error.to_string());
    Ok((parse(source)?, parse(destination)?))
}

fn read(path: &Path) -> Result<String, CommandError> {
    let failed = |error: &dyn std::fmt::Display| {
        CommandError::failure(format!("cannot read `{}`: {error}", path.display()))
    };
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_LIST_BYTES + 1).read_to_string(&mut text)
    } else {
        open(path).and_then(|file| file.take(MAX_LIST_BYTES + 1).read_to_string(&mut text))
    };
    match read {
        Ok(length) if length as u64 <= MAX_LIST_BYTES => Ok(text),
        Ok(_) => Err(failed(&format!("it is larger than {MAX_LIST_BYTES} bytes"))),
        Err(error) => Err(failed(&error)),
    }
}

#[expect(clippy::disallowed_methods, reason = "the list is the user's file, wherever it is")]
fn open(path: &Path) -> std::io::Result<File> {
    File::open(path)
}
