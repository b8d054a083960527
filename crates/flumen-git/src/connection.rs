//! A server that has introduced itself, and what it offers.

use std::{
    rc::Rc,
    sync::{Arc, atomic::AtomicBool},
};

use gix::{
    bstr::BString,
    progress::Discard,
    protocol::{
        self, Handshake, LsRefsCommand,
        handshake::Ref,
        ls_refs::RefPrefixes,
        transport::{
            Protocol, Service,
            client::blocking_io::{Transport, http},
        },
    },
};

use crate::{
    Client, Error, Limits,
    error::chain,
    http::Exchange,
    limits::Budget,
    ssh,
    transport::{Failure, Line},
    url::Address,
};

/// All that the connections for one repository and its submodules have in common.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) client: &'a Client,
    pub(crate) limits: &'a Limits,
    pub(crate) budget: Rc<Budget>,
    pub(crate) stop: &'a Arc<AtomicBool>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(client: &'a Client, limits: &'a Limits, stop: &'a Arc<AtomicBool>) -> Self {
        Self { client, limits, budget: Rc::new(Budget::of_repository(limits)), stop }
    }
}

/// A server that has introduced itself.
pub(crate) struct Connection<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) address: &'a Address,
    pub(super) failure: Failure,
    pub(super) transport: Box<dyn Transport>,
    pub(super) handshake: Handshake,
}

impl<'a> Connection<'a> {
    pub(crate) fn open(session: &'a Session<'a>, address: &'a Address) -> Result<Self, Error> {
        let failure = Failure::default();
        let mut transport = connect(session, address, &failure)?;
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
            failure.take().unwrap_or_else(|| Error::NotARepository { url: address.to_string() })
        })?;
        let connection = Self { session, address, failure, transport, handshake };
        // Servers of repositories with other hashes say so before anything else.
        connection.hash()?;
        Ok(connection)
    }

    /// What the server has under names that begin so. Old servers name all they have.
    pub(crate) fn references(&mut self, prefixes: &[&str]) -> Result<Vec<Ref>, Error> {
        if let Some(references) = &self.handshake.refs {
            return Ok(references.clone());
        }
        let mut wanted = RefPrefixes::new();
        wanted.extend(prefixes.iter().map(|prefix| BString::from(*prefix)));
        LsRefsCommand::new(Some(wanted), &self.handshake.capabilities, agent())
            .invoke_blocking(&mut self.transport, &mut Discard, false)
            .map_err(|error| self.explain(&error))
    }

    pub(super) fn hash(&self) -> Result<gix::hash::Kind, Error> {
        let format = self.handshake.capabilities.capability("object-format");
        match format.and_then(|format| Some(format.value()?.to_string())) {
            None => Ok(gix::hash::Kind::Sha1),
            Some(name) => name.parse().map_err(|_| Error::Broken {
                url: self.address.to_string(),
                reason: format!("object ids are {name}, which is not known"),
            }),
        }
    }

    /// Prefers what went wrong on the way to what gix makes of it.
    pub(super) fn explain(&self, error: &gix::Error) -> Error {
        self.failure.take().unwrap_or_else(|| Error::Broken {
            url: self.address.to_string(),
            reason: chain(error),
        })
    }
}

fn connect(
    session: &Session<'_>,
    address: &Address,
    failure: &Failure,
) -> Result<Box<dyn Transport>, Error> {
    match address {
        Address::Http(url) => {
            let http = session.client.http()?;
            let exchange = Exchange::new(&http, url, &session.budget, session.stop);
            let line = Line::new(exchange, failure.clone());
            let base = gix::url::parse(url.url.as_str().as_bytes())
                .map_err(|error| Error::InvalidUrl { reason: chain(&error) })?;
            Ok(Box::new(http::Transport::new_http(line, base, Protocol::V2, false)))
        }
        Address::Ssh(url) => ssh::connect(session, url, failure),
    }
}

pub(super) fn agent() -> protocol::command::Feature {
    ("agent", Some(protocol::agent(concat!("flumen-", env!("CARGO_PKG_VERSION")))))
}
