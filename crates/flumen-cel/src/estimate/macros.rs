//! What macros over pairs and sorting by a key cost.

use cel::common::ast::IdedExpr;

use super::{CREATE_LIST, CREATE_MAP, Estimator, Local, Range, Step};
use crate::{
    macros::{PairMacro, Pairs, SortBy},
    types::Type,
};

/// Looking at a condition and at what is accumulated, in every step.
const STEP: u64 = 3;

impl<'a> Estimator<'a> {
    pub(super) fn pairs(&mut self, expr: &'a IdedExpr, it: &Pairs<'a>) -> Range {
        let sum = self.cost(it.range);
        let depth = self.locals.len();
        self.push_pair(it.key, it.value, it.range);
        let filter = it.filter.map_or(Range::ZERO, |filter| self.cost(filter));
        let each = self.cost(it.body).plus(filter).plus(Range::fixed(STEP));
        self.locals.truncate(depth);
        let count = self.size_or_unknown(it.range);
        // Every element that is added is a collection of its own first.
        let (made, each) = match it.what {
            PairMacro::All | PairMacro::Exists | PairMacro::ExistsOne => (Range::ONE, each),
            PairMacro::List => (Range::fixed(CREATE_LIST), each.plus(Range::fixed(CREATE_LIST))),
            PairMacro::Map | PairMacro::Entries => (Range::fixed(CREATE_MAP), each),
        };
        if !matches!(it.what, PairMacro::All | PairMacro::Exists | PairMacro::ExistsOne) {
            self.sizes.insert(expr.id, count);
        }
        sum.plus(made).plus(count.times(each))
    }

    fn push_pair(&mut self, key: &'a str, value: &'a str, range: &'a IdedExpr) {
        let entry = self.entry(range);
        let is_list = entry
            .map_or_else(|| matches!(self.type_of(range), Type::List(_)), |entry| entry.is_list);
        let path = self.path(range);
        let beyond = |step: Step<'a>| {
            let mut path = path.clone();
            path.push(step);
            path
        };
        let (key_path, key_size) = if is_list {
            (Vec::new(), Some(Range::ONE))
        } else {
            (beyond(Step::Key), entry.map(|entry| entry.key))
        };
        let value_path = beyond(Step::Element);
        self.locals.push(Local { name: key, path: key_path, size: key_size, entry: None });
        let size = entry.map(|entry| entry.value);
        self.locals.push(Local { name: value, path: value_path, size, entry: None });
    }

    pub(super) fn sort_by(&mut self, expr: &'a IdedExpr, it: &SortBy<'a>) -> Range {
        let sum = self.cost(it.list);
        let depth = self.locals.len();
        self.push_element(it.element, it.list);
        let each = self.cost(it.key).plus(Range::fixed(CREATE_LIST));
        self.locals.truncate(depth);
        let count = self.size_or_unknown(it.list);
        self.sizes.insert(expr.id, count);
        // The keys are made first; then every element may be compared with every other.
        sum.plus(count.times(each)).plus(count.times(count))
    }
}
