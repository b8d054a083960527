//! Opens the places of copies: each host and each layout once, with the credentials of its side.

use std::{collections::BTreeMap, path::PathBuf};

use flumen_oci::{
    Form, Location, OnDisk, Reference, Repository,
    client::{ClientOptions, Credentials, Registry},
    layout::Layout,
};
use parking_lot::{Mutex, MutexGuard};

use crate::error::{CommandError, Failure};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Source,
    Destination,
    /// Hosts that only manifests name. No credentials are given for them.
    Image,
}

/// Everything that is open, and how to open more.
#[derive(Debug)]
pub(super) struct Places {
    options: ClientOptions,
    source: Option<Credentials>,
    destination: Option<Credentials>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    registries: BTreeMap<(Side, String), Registry>,
    layouts: BTreeMap<(Side, PathBuf), Layout>,
    /// The host that got the credentials which were not given for a side.
    trusted: Option<String>,
}

impl Places {
    pub(super) fn new(
        options: ClientOptions,
        source: Option<Credentials>,
        destination: Option<Credentials>,
    ) -> Self {
        Self { options, source, destination, open: Mutex::default() }
    }

    pub(super) fn open(&self, place: &Location, side: Side) -> Result<Repository, CommandError> {
        match place {
            Location::Registry(reference) => self.remote(reference, side),
            Location::Disk(disk) => self.layout(disk, side).map(Repository::Layout),
        }
    }

    /// Completes archives.
    pub(super) async fn finish(&self) -> Result<(), CommandError> {
        let layouts: Vec<Layout> = self.lock().layouts.values().cloned().collect();
        for layout in layouts {
            layout.finish().await?;
        }
        Ok(())
    }

    fn remote(&self, reference: &Reference, side: Side) -> Result<Repository, CommandError> {
        let mut open = self.lock();
        let host = &reference.host;
        let given = match side {
            Side::Source => self.source.clone(),
            Side::Destination => self.destination.clone(),
            Side::Image => None,
        };
        // A host that got its credentials for both sides, or for none, is one host.
        let side = match side {
            Side::Destination if given.is_none() => Side::Source,
            Side::Image if open.registries.contains_key(&(Side::Source, host.clone())) => {
                Side::Source
            }
            side => side,
        };
        let key = (side, host.clone());
        if let Some(registry) = open.registries.get(&key) {
            return Ok(Repository::Remote(registry.repository(&reference.repository)));
        }
        let mut options = self.options.clone();
        if side == Side::Image {
            options.credentials = None;
        } else if given.is_some() {
            options.credentials = given;
        } else if options.credentials.is_some() {
            match &open.trusted {
                Some(other) if other != host => return Err(two_hosts(other, host)),
                _ => open.trusted = Some(host.clone()),
            }
        }
        let registry = Registry::new(host, &options)?;
        open.registries.insert(key, registry.clone());
        Ok(Repository::Remote(registry.repository(&reference.repository)))
    }

    pub(super) fn layout(&self, disk: &OnDisk, side: Side) -> Result<Layout, CommandError> {
        let mut open = self.lock();
        let key = (side, disk.path.clone());
        if let Some(layout) = open.layouts.get(&key) {
            return Ok(layout.clone());
        }
        let layout = match (side, disk.form) {
            (Side::Destination, Form::Directory) => Layout::create(&disk.path)?,
            (Side::Destination, Form::Archive) => Layout::create_archive(&disk.path)?,
            _ => Layout::open(&disk.path)?,
        };
        open.layouts.insert(key, layout.clone());
        Ok(layout)
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock()
    }
}

fn two_hosts(first: &str, second: &str) -> CommandError {
    Failure::new(format!("`--creds` would go to both {first} and {second}"))
        .hint("`--source-creds` and `--destination-creds` say whose they are")
        .into()
}
