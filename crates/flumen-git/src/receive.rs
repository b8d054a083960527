//! Packs: objects on their way from a server.

use std::{
    env,
    io::{BufRead, Cursor, Read as _},
    num::NonZeroU32,
};

use flumen_fs::MAX_FILE_SIZE;
use gix::{
    ObjectId,
    odb::{HandleArc, pack},
    progress::Discard,
    protocol::{
        self,
        fetch::{Arguments, Negotiate, Response, Shallow, Tags, negotiate},
    },
};
use tempfile::TempDir;

use crate::{
    Error, GitReference,
    connection::{Connection, agent},
    objects::Objects,
    target::{Depth, Target},
};

/// What servers call it that they can leave something out.
const FILTER: &str = "filter";
/// Neither files nor directories.
const NO_FILES: &str = "tree:0";

/// How much of what is before a commit is received with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Nothing.
    Commit,
    /// All commits, and the files of none.
    Commits,
    /// Everything.
    History,
}

impl Connection<'_> {
    /// Receives a commit and its files.
    pub(crate) fn fetch(mut self, target: &Target) -> Result<Objects, Error> {
        match target.depth {
            Depth::Commit => match self.receive(&[target.wanted], Extent::Commit) {
                // Commits without a name are not given out by every server.
                Err(Error::Broken { .. } | Error::Rejected { .. }) if target.name.is_none() => {
                    self.fetch_all(target)
                }
                outcome => outcome,
            },
            Depth::History => self.fetch_from_history(target),
        }
    }

    /// Receives a commit from the history of a branch; all of that only where there is no other way.
    fn fetch_from_history(mut self, target: &Target) -> Result<Objects, Error> {
        if target.commit == target.wanted {
            return self.receive(&[target.wanted], Extent::Commit);
        }
        if !self.can_leave_out_files() {
            return holding(self.receive(&[target.wanted], Extent::History)?, target, &self);
        }
        // Commits are small, and show whether it is on that branch.
        holding(self.receive(&[target.wanted], Extent::Commits)?, target, &self)?;
        let mut again = Self::open(self.session, self.address)?;
        match again.receive(&[target.commit], Extent::Commit) {
            // As above.
            Err(Error::Broken { .. } | Error::Rejected { .. }) => {
                Self::open(self.session, self.address)?.receive(&[target.wanted], Extent::History)
            }
            outcome => outcome,
        }
    }

    /// Whether the server sends commits without their files to those who ask for that.
    fn can_leave_out_files(&self) -> bool {
        let capabilities = &self.handshake.capabilities;
        match capabilities.capability("fetch") {
            Some(fetch) => fetch.supports(FILTER).unwrap_or(false),
            // Before version 2 of the protocol.
            None => capabilities.contains(FILTER),
        }
    }

    /// Receives all that has a name, to find what has none.
    fn fetch_all(&self, target: &Target) -> Result<Objects, Error> {
        let mut again = Self::open(self.session, self.address)?;
        let offered = again.references(&["refs/heads/", "refs/tags/"])?;
        let mut tips: Vec<_> =
            offered.iter().filter_map(|offer| offer.unpack().1.map(ToOwned::to_owned)).collect();
        tips.sort_unstable();
        tips.dedup();
        if tips.is_empty() {
            return Err(missing(target, self));
        }
        holding(again.receive(&tips, Extent::History)?, target, self)
    }

    pub(super) fn receive(
        &mut self,
        wanted: &[ObjectId],
        extent: Extent,
    ) -> Result<Objects, Error> {
        let place = self.session.limits.scratch.clone().unwrap_or_else(env::temp_dir);
        let scratch = tempfile::Builder::new()
            .prefix("flumen-git-")
            .tempdir_in(place)
            .map_err(Error::Scratch)?;
        let directory = scratch.path().join("objects");
        let packs = directory.join("pack");
        std::fs::create_dir_all(&packs).map_err(Error::Scratch)?;

        let hash = self.hash()?;
        let (session, address, failure) = (self.session, self.address, &self.failure);
        let received = protocol::fetch(
            &mut Wanted(wanted, extent),
            |reader, progress, stop| {
                let (count, mut reader) = counted(reader).map_err(gix::Error::from_error)?;
                session
                    .budget
                    .spend_objects(count, address)
                    .map_err(|error| gix::Error::from_error(failure.keep(error)))?;
                let options = pack::bundle::write::Options {
                    alloc_limit_bytes: usize::try_from(MAX_FILE_SIZE).ok(),
                    ..pack::bundle::write::Options::default()
                };
                let no_bases = None::<HandleArc>;
                pack::Bundle::write_to_directory(
                    &mut reader,
                    Some(&packs),
                    progress,
                    stop,
                    no_bases,
                    hash,
                    options,
                )
                .map(|_| true)
            },
            Discard,
            session.stop,
            protocol::fetch::Context {
                handshake: &mut self.handshake,
                transport: &mut self.transport,
                user_agent: agent(),
                trace_packetlines: false,
            },
            protocol::fetch::Options {
                shallow_file: scratch.path().join("shallow"),
                shallow: &match extent {
                    Extent::Commit => Shallow::DepthAtRemote(NonZeroU32::MIN),
                    Extent::Commits | Extent::History => Shallow::NoChange,
                },
                tags: Tags::None,
                reject_shallow_remote: false,
            },
        );
        if let Err(error) = received {
            return Err(self.explain(&error));
        }
        open_scratch(scratch, hash)
    }
}

/// The objects, if what was wanted is among them.
fn holding(
    objects: Objects,
    target: &Target,
    connection: &Connection<'_>,
) -> Result<Objects, Error> {
    if objects.has(&target.commit) { Ok(objects) } else { Err(missing(target, connection)) }
}

fn missing(target: &Target, connection: &Connection<'_>) -> Error {
    Error::NoReference {
        url: connection.address.to_string(),
        reference: GitReference::Commit(target.commit.to_string()).to_string(),
    }
}

fn open_scratch(scratch: TempDir, hash: gix::hash::Kind) -> Result<Objects, Error> {
    let directory = scratch.path().join("objects");
    Objects::open(&directory, hash, Some(scratch)).map_err(Error::Scratch)
}

/// How many objects the header of a pack promises, and the pack again.
fn counted(pack: &mut dyn BufRead) -> std::io::Result<(u32, impl BufRead)> {
    let mut header = [0; 12];
    pack.read_exact(&mut header)?;
    let [.., a, b, c, d] = header;
    Ok((u32::from_be_bytes([a, b, c, d]), Cursor::new(header).chain(pack)))
}

/// Asks for objects as someone who has none.
struct Wanted<'a>(&'a [ObjectId], Extent);

impl Negotiate for Wanted<'_> {
    fn mark_complete_and_common_ref(&mut self) -> gix::Result<negotiate::Action> {
        Ok(negotiate::Action::MustNegotiate { remote_ref_target_known: Vec::new() })
    }

    fn add_wants(&mut self, arguments: &mut Arguments, _: &[bool]) -> bool {
        self.0.iter().for_each(|id| arguments.want(id));
        if self.1 == Extent::Commits {
            arguments.filter(NO_FILES);
        }
        true
    }

    fn one_round(
        &mut self,
        _: &mut negotiate::one_round::State,
        _: &mut Arguments,
        _: Option<&Response>,
    ) -> gix::Result<(negotiate::Round, bool)> {
        let round = negotiate::Round {
            haves_sent: 0,
            in_vain: 0,
            haves_to_send: 0,
            previous_response_had_at_least_one_in_common: false,
        };
        Ok((round, true))
    }
}
