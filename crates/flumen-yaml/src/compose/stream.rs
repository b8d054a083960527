//! A stream of documents, each of which becomes a tree.

use crate::{
    Budget, Error, Node, Pos, Style, Text,
    parser::{Event, EventKind, Parser, Sink},
    scanner::{Fault, Pace},
};

/// Which documents of a stream are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Documents {
    All,
    First,
}

/// Why a text was not read.
pub(super) enum Stop {
    /// The text is not YAML.
    Fault(Fault),
    Failed(Error),
    /// There are anchors or the like.
    NeedsGraph,
    /// Something follows the first document. How much of it go-yaml looks at, and may stumble over,
    /// depends on its pace.
    Unsure,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Makes a tree of the events of a document.
pub(super) trait Compose {
    /// Takes an event inside of a document.
    fn take(&mut self, event: Event) -> Result<(), Stop>;

    /// Takes a plain key and its value, a scalar without properties.
    #[inline]
    fn take_pair(&mut self, key_pos: Pos, key: Text, value: Event) -> Result<(), Stop> {
        let kind = EventKind::Scalar { value: key, style: Style::Plain, properties: None };
        self.take(Event { pos: key_pos, kind })?;
        self.take(value)
    }

    /// Gives the tree when the document is complete.
    fn finish(&mut self) -> Result<Node, Stop>;
}

/// The documents of a stream.
pub(super) struct Stream<'a, C> {
    composer: C,
    budget: &'a Budget,
    documents: Documents,
    roots: Vec<Node>,
    is_done: bool,
}

impl<'a, C: Compose> Stream<'a, C> {
    pub(super) const fn new(composer: C, budget: &'a Budget, documents: Documents) -> Self {
        Self { composer, budget, documents, roots: Vec::new(), is_done: false }
    }

    pub(super) fn run(mut self, mut parser: Parser<'_>) -> Result<Vec<Node>, Stop> {
        while !self.is_done {
            parser.advance(&mut self)?;
            // Not one event more than go-yaml looks at.
            if self.documents == Documents::First
                && parser.pace() == Pace::Reference
                && !self.roots.is_empty()
            {
                break;
            }
        }
        Ok(self.roots)
    }

    fn begin_document(&self, pos: Pos) -> Result<(), Stop> {
        if self.documents == Documents::First && !self.roots.is_empty() {
            return Err(Stop::Unsure);
        }
        let most = self.budget.documents;
        if self.roots.len() >= most {
            let problem = format!("the text has more than {most} documents");
            return Err(Stop::Failed(Error::new(problem, pos)));
        }
        Ok(())
    }
}

impl<C: Compose> Sink for Stream<'_, C> {
    type Stop = Stop;

    #[expect(clippy::inline_always, reason = "folds the kind of event where it is made")]
    #[inline(always)]
    fn event(&mut self, event: Event) -> Result<(), Stop> {
        match event.kind {
            EventKind::StreamStart => Ok(()),
            EventKind::StreamEnd => {
                self.is_done = true;
                Ok(())
            }
            EventKind::DocumentStart { .. } => self.begin_document(event.pos),
            EventKind::DocumentEnd { .. } => {
                let root = self.composer.finish()?;
                self.roots.push(root);
                Ok(())
            }
            _ => self.composer.take(event),
        }
    }

    #[expect(clippy::inline_always, reason = "folds the kind of event where it is made")]
    #[inline(always)]
    fn pair(&mut self, key_pos: Pos, key: Text, value: Event) -> Result<(), Stop> {
        self.composer.take_pair(key_pos, key, value)
    }
}
