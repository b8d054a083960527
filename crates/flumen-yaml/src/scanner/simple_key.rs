//! Simple keys: what may turn out to be a key when its `:` comes.

use std::cmp::Ordering;

use super::{Fault, Mark, Scanner};

/// Characters between the start of a simple key and its `:`.
pub(super) const MAX_SIMPLE_KEY: u32 = 1024;

/// A place where a simple key may have begun.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SimpleKey {
    pub(super) possible: bool,
    /// Nothing but a key can stand here, because the column is that of a block mapping.
    pub(super) required: bool,
    pub(super) token_number: usize,
    pub(super) mark: Mark,
}

impl Scanner<'_> {
    /// Whether a `Key` token may still have to be put before the first token of the queue.
    #[inline]
    pub(super) fn head_may_be_key(&mut self) -> Result<bool, Fault> {
        while let Some(&(number, level)) = self.awaited.front() {
            match number.cmp(&self.taken) {
                Ordering::Less => self.awaited.pop_front(),
                Ordering::Equal => return self.simple_key_is_valid(level),
                Ordering::Greater => break,
            };
        }
        Ok(false)
    }

    pub(super) fn last_key(&mut self) -> &mut SimpleKey {
        if self.simple_keys.is_empty() {
            self.simple_keys.push(SimpleKey::default());
        }
        let last = self.simple_keys.len() - 1;
        &mut self.simple_keys[last]
    }

    /// Notes that a simple key may begin here.
    #[inline]
    pub(super) fn save_simple_key(&mut self) -> Result<(), Fault> {
        if !self.simple_key_allowed {
            return Ok(());
        }
        let mark = self.cursor.mark();
        let key = SimpleKey {
            possible: true,
            required: self.flow_level == 0 && self.indent == i64::from(mark.column),
            token_number: self.taken + self.queue.len(),
            mark,
        };
        self.remove_simple_key()?;
        *self.last_key() = key;
        self.awaited.push_back((key.token_number, self.simple_keys.len() - 1));
        Ok(())
    }

    /// Gives up the possible simple key of the current level.
    #[inline]
    pub(super) fn remove_simple_key(&mut self) -> Result<(), Fault> {
        let key = *self.last_key();
        if key.possible {
            if key.required {
                return Err(self.fault(key.mark, "could not find expected ':'"));
            }
            self.last_key().possible = false;
            self.forget_awaited(key.token_number);
        }
        Ok(())
    }

    pub(super) fn forget_awaited(&mut self, token_number: usize) {
        let found = self.awaited.iter().rposition(|&(number, _)| number <= token_number);
        if let Some(index) = found.filter(|&index| self.awaited[index].0 == token_number) {
            self.awaited.remove(index);
        }
    }

    /// Whether the key at `level` may still get its `:` here; a key is bound to one line.
    pub(super) fn simple_key_is_valid(&mut self, level: usize) -> Result<bool, Fault> {
        let Some(&key) = self.simple_keys.get(level).filter(|key| key.possible) else {
            return Ok(false);
        };
        let here = self.cursor.mark();
        if key.mark.line == here.line && key.mark.column + MAX_SIMPLE_KEY >= here.column {
            return Ok(true);
        }
        if key.required {
            return Err(self.fault(key.mark, "could not find expected ':'"));
        }
        self.simple_keys[level].possible = false;
        Ok(false)
    }
}
