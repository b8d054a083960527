//! Events for those who want no tree.

use std::collections::VecDeque;

use super::examine;
use crate::{
    Budget, Error, Text,
    encoding::Traits,
    parser::{Event, EventKind, Parser, Sink},
    scanner::{Fault, Pace},
};

/// Reads a text as events.
pub fn events<'a>(text: &'a Text, budget: &Budget) -> Result<Events<'a>, Error> {
    let traits = examine(text, 1, budget)?;
    let parser = Parser::new(text, 1, traits, Pace::Quick, budget);
    let (budget, queue) = (budget.clone(), Queue::default());
    Ok(Events { text, traits, budget, parser: Some(parser), queue })
}

/// The events of a text, up to the end of the stream or the first error.
#[derive(Debug)]
pub struct Events<'a> {
    text: &'a Text,
    traits: Traits,
    budget: Budget,
    parser: Option<Parser<'a>>,
    queue: Queue,
}

impl Iterator for Events<'_> {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.queue.0.is_empty() {
            let parser = self.parser.as_mut()?;
            let result = parser.advance(&mut self.queue);
            if let Err(fault) = result {
                let error = parser.error(&fault);
                let reference =
                    Parser::new(self.text, 1, self.traits, Pace::Reference, &self.budget);
                self.parser = None;
                return Some(Err(first_error(reference).unwrap_or(error)));
            }
        }
        let event = self.queue.0.pop_front()?;
        if event.kind == EventKind::StreamEnd {
            self.parser = None;
        }
        Some(Ok(event))
    }
}

/// Events that came in one go.
#[derive(Debug, Default)]
struct Queue(VecDeque<Event>);

impl Sink for Queue {
    type Stop = Fault;

    fn event(&mut self, event: Event) -> Result<(), Fault> {
        self.0.push_back(event);
        Ok(())
    }
}

fn first_error(mut parser: Parser<'_>) -> Option<Error> {
    let mut queue = Queue::default();
    loop {
        if let Err(fault) = parser.advance(&mut queue) {
            return Some(parser.error(&fault));
        }
        if queue.0.drain(..).any(|event| event.kind == EventKind::StreamEnd) {
            return None;
        }
    }
}
