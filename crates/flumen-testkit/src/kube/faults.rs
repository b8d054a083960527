//! Which requests go wrong, and how.
//!
//! The seed decides for each request by what it asks for and how often it was asked before, so that it decides the
//! same when concurrent requests arrive in another order.

use std::time::Duration;

/// What can happen to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// 429 with this many seconds in `Retry-After`; nothing is forwarded.
    TooManyRequests { retry_after: u32 },
    /// 500; nothing is forwarded.
    InternalError,
    /// 503; nothing is forwarded.
    Unavailable,
    /// The connection ends before anything is forwarded.
    DropBefore,
    /// The request is carried out, but the connection ends before the answer.
    DropAfter,
    /// The request is forwarded later.
    Delay(Duration),
}

impl Fault {
    /// One of each kind, with the shortest time that is more than none.
    pub const ALL: [Self; 6] = [
        Self::TooManyRequests { retry_after: 1 },
        Self::InternalError,
        Self::Unavailable,
        Self::DropBefore,
        Self::DropAfter,
        Self::Delay(Duration::from_millis(1)),
    ];
}

/// How many requests go wrong, and how.
#[derive(Debug, Clone)]
pub struct FaultPlan {
    pub seed: u64,
    /// Of a hundred requests.
    pub percent: u8,
    /// What can happen, each as likely as the others.
    pub faults: Vec<Fault>,
}

impl FaultPlan {
    /// Returns what happens to a request that arrives for the `number`th time.
    pub(super) fn draw(&self, request: &str, number: u64) -> Option<Fault> {
        let name = request.bytes().fold(mix(self.seed), |state, byte| mix(state ^ u64::from(byte)));
        let random = mix(name.wrapping_add(number));
        let choice = usize::try_from(random >> 33).unwrap_or_default();
        let hit = random % 100 < u64::from(self.percent);
        (hit && !self.faults.is_empty()).then(|| self.faults[choice % self.faults.len()])
    }
}

/// One step of `SplitMix64`.
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_and_the_rate_is_kept() {
        let draw = |seed| {
            let plan = FaultPlan { seed, percent: 20, faults: Fault::ALL.to_vec() };
            let draw = |number: u64| plan.draw(&format!("get {}", number / 10), number % 10);
            (0..10_000).map(draw).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        for fault in Fault::ALL {
            let count = draw(3).iter().filter(|drawn| **drawn == Some(fault)).count();
            assert!((250..420).contains(&count), "{fault:?}: {count} of 10,000");
        }
    }
}
