//! A repository on a server: what it has, and one commit of it.

use std::{
    env,
    io::{BufRead, Cursor, Read as _},
    num::NonZeroU32,
    sync::{Arc, atomic::AtomicBool},
};

use flumen_fs::MAX_FILE_SIZE;
use gix::{
    ObjectId,
    bstr::BString,
    odb::{HandleArc, pack},
    progress::Discard,
    protocol::{
        self, Handshake, LsRefsCommand,
        fetch::{Arguments, Negotiate, Response, Shallow, Tags, negotiate},
        handshake::Ref,
        ls_refs::RefPrefixes,
        transport::{Protocol, Service, client::blocking_io::http::Transport},
    },
};
use tempfile::TempDir;

use crate::{
    Error, GitReference, Limits,
    error::chain,
    http::{Exchange, Http},
    objects::Objects,
    transport::Line,
    url::HttpUrl,
};

/// What a reference stands for on a server.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// What to ask for: the commit, or the tag object that leads to it.
    wanted: ObjectId,
    /// The commit, as far as the server said.
    pub(crate) commit: ObjectId,
    /// The full name under which it was found; none if the id was given.
    name: Option<String>,
}

impl Target {
    /// The full name under which it was found, or the id.
    pub(crate) fn reference(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.commit.to_string())
    }
}

/// A server that has introduced itself.
pub(crate) struct Connection<'a> {
    http: &'a Arc<Http>,
    url: &'a HttpUrl,
    limits: &'a Limits,
    stop: &'a Arc<AtomicBool>,
    line: Line,
    transport: Transport<Line>,
    handshake: Handshake,
}

impl<'a> Connection<'a> {
    pub(crate) fn open(
        http: &'a Arc<Http>,
        url: &'a HttpUrl,
        limits: &'a Limits,
        stop: &'a Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let line = Line::new(Exchange::new(http, url, limits.bytes, stop));
        let address = gix::url::parse(url.url.as_str().as_bytes())
            .map_err(|error| Error::InvalidUrl { reason: chain(&error) })?;
        let mut transport = Transport::new_http(line.clone(), address, Protocol::V2, false);
        let no_helper = |_| Ok(None);
        let handshake = protocol::handshake(
            &mut transport,
            Service::UploadPack,
            no_helper,
            Vec::new(),
            &mut Discard,
        )
        // What is no failure on the way is an answer that is not Git's.
        .map_err(|_| {
            line.take_failure().unwrap_or_else(|| Error::NotARepository { url: url.to_string() })
        })?;
        Ok(Self { http, url, limits, stop, line, transport, handshake })
    }

    /// Finds out which commit is meant.
    pub(crate) fn target(&mut self, reference: &GitReference) -> Result<Target, Error> {
        let url = self.url;
        let missing =
            || Error::NoReference { url: url.to_string(), reference: reference.to_string() };
        if let Some(id) = reference.object_id() {
            let commit = ObjectId::from_hex(id.as_bytes()).map_err(|_| missing())?;
            return Ok(Target { wanted: commit, commit, name: None });
        }
        let candidates = reference.candidates();
        let offered = self.references(&candidates)?;
        let found = candidates.iter().find_map(|name| {
            offered.iter().find_map(|offer| match offer.unpack() {
                (offered, Some(id), peeled) if offered == name.as_str() => {
                    let name = match offer {
                        Ref::Symbolic { target, .. } => target.to_string(),
                        _ => name.clone(),
                    };
                    let commit = peeled.unwrap_or(id).to_owned();
                    Some(Target { wanted: id.to_owned(), commit, name: Some(name) })
                }
                _ => None,
            })
        });
        found.ok_or_else(missing)
    }

    /// Receives one commit and its files.
    pub(crate) fn fetch(mut self, target: &Target) -> Result<Objects, Error> {
        match self.receive(&[target.wanted], Some(NonZeroU32::MIN)) {
            // Commits without a name are not given out by every server.
            Err(Error::Broken { .. }) if target.name.is_none() => {}
            outcome => return outcome,
        }
        let mut again = Self::open(self.http, self.url, self.limits, self.stop)?;
        let offered = again.references(&["refs/heads/".to_owned(), "refs/tags/".to_owned()])?;
        let mut tips: Vec<_> =
            offered.iter().filter_map(|offer| offer.unpack().1.map(ToOwned::to_owned)).collect();
        tips.sort_unstable();
        tips.dedup();
        let objects = if tips.is_empty() { None } else { Some(again.receive(&tips, None)?) };
        objects.filter(|objects| objects.has(&target.wanted)).ok_or_else(|| Error::NoReference {
            url: self.url.to_string(),
            reference: GitReference::Commit(target.wanted.to_string()).to_string(),
        })
    }

    fn references(&mut self, prefixes: &[String]) -> Result<Vec<Ref>, Error> {
        if let Some(references) = &self.handshake.refs {
            return Ok(references.clone());
        }
        let mut wanted = RefPrefixes::new();
        wanted.extend(prefixes.iter().map(|prefix| BString::from(prefix.as_str())));
        LsRefsCommand::new(Some(wanted), &self.handshake.capabilities, agent())
            .invoke_blocking(&mut self.transport, &mut Discard, false)
            .map_err(|error| self.explain(&error))
    }

    fn receive(
        &mut self,
        wanted: &[ObjectId],
        depth: Option<NonZeroU32>,
    ) -> Result<Objects, Error> {
        let place = self.limits.scratch.clone().unwrap_or_else(env::temp_dir);
        let scratch = tempfile::Builder::new()
            .prefix("flumen-git-")
            .tempdir_in(place)
            .map_err(Error::Scratch)?;
        let directory = scratch.path().join("objects");
        let packs = directory.join("pack");
        std::fs::create_dir_all(&packs).map_err(Error::Scratch)?;

        let hash = self.hash()?;
        let (limit, url) = (self.limits.objects, self.url);
        let mut too_many = None;
        let received = protocol::fetch(
            &mut Wanted(wanted),
            |reader, progress, stop| {
                let mut reader = match counted(reader, limit) {
                    Ok(reader) => reader,
                    Err(Uncounted::Unreadable(error)) => return Err(gix::Error::from_error(error)),
                    Err(Uncounted::TooMany) => {
                        let error = Error::TooManyObjects { url: url.to_string(), limit };
                        let told = std::io::Error::other(error.to_string());
                        too_many = Some(error);
                        return Err(gix::Error::from_error(told));
                    }
                };
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
            self.stop,
            protocol::fetch::Context {
                handshake: &mut self.handshake,
                transport: &mut self.transport,
                user_agent: agent(),
                trace_packetlines: false,
            },
            protocol::fetch::Options {
                shallow_file: scratch.path().join("shallow"),
                shallow: &depth.map_or(Shallow::NoChange, Shallow::DepthAtRemote),
                tags: Tags::None,
                reject_shallow_remote: false,
            },
        );
        if let Err(error) = received {
            return Err(too_many.unwrap_or_else(|| self.explain(&error)));
        }
        open_scratch(scratch, hash)
    }

    fn hash(&self) -> Result<gix::hash::Kind, Error> {
        let format = self.handshake.capabilities.capability("object-format");
        match format.and_then(|format| Some(format.value()?.to_string())) {
            None => Ok(gix::hash::Kind::Sha1),
            Some(name) => name.parse().map_err(|_| Error::Broken {
                url: self.url.to_string(),
                reason: format!("object ids are {name}, which is not known"),
            }),
        }
    }

    /// Prefers what went wrong on the way to what gix makes of it.
    fn explain(&self, error: &gix::Error) -> Error {
        self.line
            .take_failure()
            .unwrap_or_else(|| Error::Broken { url: self.url.to_string(), reason: chain(error) })
    }
}

fn open_scratch(scratch: TempDir, hash: gix::hash::Kind) -> Result<Objects, Error> {
    let directory = scratch.path().join("objects");
    Objects::open(&directory, hash, Some(scratch)).map_err(Error::Scratch)
}

fn agent() -> protocol::command::Feature {
    ("agent", Some(protocol::agent(concat!("flumen-", env!("CARGO_PKG_VERSION")))))
}

/// Why a pack is not read.
enum Uncounted {
    TooMany,
    Unreadable(std::io::Error),
}

/// The pack again, if its header promises no more than `limit` objects.
fn counted(pack: &mut dyn BufRead, limit: u32) -> Result<impl BufRead, Uncounted> {
    let mut header = [0; 12];
    pack.read_exact(&mut header).map_err(Uncounted::Unreadable)?;
    let [.., a, b, c, d] = header;
    if u32::from_be_bytes([a, b, c, d]) > limit {
        return Err(Uncounted::TooMany);
    }
    Ok(Cursor::new(header).chain(pack))
}

/// Asks for objects as someone who has none.
struct Wanted<'a>(&'a [ObjectId]);

impl Negotiate for Wanted<'_> {
    fn mark_complete_and_common_ref(&mut self) -> gix::Result<negotiate::Action> {
        Ok(negotiate::Action::MustNegotiate { remote_ref_target_known: Vec::new() })
    }

    fn add_wants(&mut self, arguments: &mut Arguments, _: &[bool]) -> bool {
        self.0.iter().for_each(|id| arguments.want(id));
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
