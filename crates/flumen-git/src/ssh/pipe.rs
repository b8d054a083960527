//! The channel to the program on the server, as a reader and a writer that block.

use std::{
    cell::RefCell,
    io::{self, Read, Write},
    rc::Rc,
    sync::{Arc, atomic::AtomicBool},
};

use bytes::Bytes;
use russh::{
    Channel, ChannelMsg, ChannelReadHalf, ChannelWriteHalf,
    client::{Handle, Handler, Msg},
};

use crate::{
    Error, connection::Session, limits::Budget, transport::Failure, url::SshUrl, waiting::Waiter,
};

/// As much as is kept of what the program complains about.
const MAX_COMPLAINT: usize = 1 << 10;

/// Both directions.
struct Pipe<H: Handler> {
    incoming: ChannelReadHalf,
    outgoing: ChannelWriteHalf<Msg>,
    /// What was written and not sent yet: many short lines make one packet.
    pending: Vec<u8>,
    received: Bytes,
    complaint: Vec<u8>,
    has_failed: bool,
    is_over: bool,
    url: SshUrl,
    budget: Rc<Budget>,
    stop: Arc<AtomicBool>,
    failure: Failure,
    /// The connection lasts as long as this.
    _handle: Handle<H>,
    waiter: Waiter,
}

/// What the program says.
pub(super) struct Reader<H: Handler>(Rc<RefCell<Pipe<H>>>);

/// What the program is told.
pub(super) struct Writer<H: Handler>(Rc<RefCell<Pipe<H>>>);

/// Makes a reader and a writer of a channel.
pub(super) fn split<H: Handler>(
    channel: Channel<Msg>,
    handle: Handle<H>,
    waiter: Waiter,
    url: &SshUrl,
    session: &Session<'_>,
    failure: &Failure,
) -> (Reader<H>, Writer<H>) {
    let (incoming, outgoing) = channel.split();
    let pipe = Rc::new(RefCell::new(Pipe {
        incoming,
        outgoing,
        pending: Vec::new(),
        received: Bytes::new(),
        complaint: Vec::new(),
        has_failed: false,
        is_over: false,
        url: url.clone(),
        budget: Rc::clone(&session.budget),
        stop: Arc::clone(session.stop),
        failure: failure.clone(),
        _handle: handle,
        waiter,
    }));
    (Reader(Rc::clone(&pipe)), Writer(pipe))
}

impl<H: Handler> Pipe<H> {
    fn send(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.pending);
        match self.waiter.wait(&self.stop, self.outgoing.data_bytes(bytes)) {
            // A program that has ended says why when it is read from.
            Some(_) => Ok(()),
            None => Err(self.fail("stopped")),
        }
    }

    /// Waits until there is something to read, or nothing to come.
    fn receive(&mut self) -> io::Result<()> {
        self.send()?;
        while self.received.is_empty() && !self.is_over {
            let message = self.waiter.wait(&self.stop, self.incoming.wait());
            match message.ok_or_else(|| self.fail("stopped"))? {
                Some(ChannelMsg::Data { data }) => {
                    let spent = self.budget.spend_bytes(data.len(), &self.url);
                    spent.map_err(|error| self.failure.keep(error))?;
                    self.received = data;
                }
                Some(ChannelMsg::ExtendedData { data, .. }) => {
                    let room = MAX_COMPLAINT.saturating_sub(self.complaint.len());
                    self.complaint.extend_from_slice(&data[..data.len().min(room)]);
                }
                Some(ChannelMsg::Failure) => return Err(self.fail("no program may be started")),
                // What it had to say may come after it has ended.
                Some(ChannelMsg::ExitStatus { exit_status }) => self.has_failed = exit_status != 0,
                Some(ChannelMsg::Close) | None => self.is_over = true,
                Some(_) => {}
            }
        }
        if self.received.is_empty() && self.has_failed {
            return Err(self.complain());
        }
        Ok(())
    }

    fn fail(&self, reason: &str) -> io::Error {
        let (url, reason) = (self.url.to_string(), reason.to_owned());
        self.failure.keep(Error::Unreachable { url, reason })
    }

    /// The program has failed; what it wrote is the reason.
    fn complain(&self) -> io::Error {
        let text = String::from_utf8_lossy(&self.complaint);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let reason = lines.collect::<Vec<_>>().join("; ");
        let mut reason: String = reason.chars().filter(|letter| !letter.is_control()).collect();
        if reason.is_empty() {
            "its program has failed without a word".clone_into(&mut reason);
        }
        self.failure.keep(Error::Rejected { url: self.url.to_string(), reason })
    }
}

impl<H: Handler> Read for Reader<H> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let pipe = &mut *self.0.borrow_mut();
        pipe.receive()?;
        let amount = pipe.received.len().min(buffer.len());
        buffer[..amount].copy_from_slice(&pipe.received.split_to(amount));
        Ok(amount)
    }
}

impl<H: Handler> Write for Writer<H> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().pending.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().send()
    }
}
