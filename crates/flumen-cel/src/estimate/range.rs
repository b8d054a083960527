//! Sizes and costs between a least and a most. Sums and products end at the largest number.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub min: u64,
    pub max: u64,
}

impl Range {
    pub(super) const ZERO: Self = Self::fixed(0);
    pub(super) const ONE: Self = Self::fixed(1);
    pub(super) const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    pub(super) const fn fixed(value: u64) -> Self {
        Self { min: value, max: value }
    }

    pub(super) const fn up_to(max: u64) -> Self {
        Self { min: 0, max }
    }

    /// Where to start when the sizes of some elements are united.
    pub(super) const fn of_none(is_empty: bool) -> Self {
        Self { min: if is_empty { 0 } else { u64::MAX }, max: 0 }
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(super) const fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// A part of it, rounded up.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self { min: scaled(self.min, factor), max: scaled(self.max, factor) }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "estimates of this size are beyond any limit; the cast saturates"
)]
pub(super) fn scaled(value: u64, factor: f64) -> u64 {
    (value as f64 * factor).ceil() as u64
}
