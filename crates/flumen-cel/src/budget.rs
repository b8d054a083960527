//! What an evaluation may cost.

use crate::Fault;

/// Steps that are left. One is spent for each part of the expression that is evaluated, each element
/// that is looked at, and each few bytes of text that are read or made.
#[derive(Debug)]
pub struct Budget {
    left: u64,
}

/// What Kubernetes grants an expression. It is used up within a fraction of a second.
const STEPS: u64 = 1_000_000;

/// How many bytes are as much work as one step.
const BYTES_PER_STEP: u64 = 16;

impl Default for Budget {
    fn default() -> Self {
        Self { left: STEPS }
    }
}

impl Budget {
    pub const fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    pub const fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Fault> {
        self.left = self.left.checked_sub(steps).ok_or(Fault::Exhausted)?;
        Ok(())
    }

    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> Result<(), Fault> {
        self.spend(bytes as u64 / BYTES_PER_STEP)
    }
}
