//! Evaluation of macros over pairs and of sorting by a key.

use std::{cmp::Ordering, rc::Rc};

use super::Evaluation;
use crate::{
    Fault, Outcome,
    collection::Entries,
    functions,
    macros::{PairMacro, Pairs, SortBy},
    value::Value,
};

type Pair<'a> = (Value<'a>, Value<'a>);

impl<'a> Evaluation<'a, '_> {
    pub(super) fn pairs(&mut self, it: &Pairs<'a>) -> Outcome<'a> {
        let pairs = self.pairs_of(it)?;
        match it.what {
            PairMacro::All => self.decide(it, pairs, false),
            PairMacro::Exists => self.decide(it, pairs, true),
            PairMacro::ExistsOne => {
                let mut count = 0;
                for pair in pairs {
                    if self.within(it, &pair, |this| this.is_true(it.body))? {
                        count += 1;
                    }
                }
                Ok(Value::Bool(count == 1))
            }
            PairMacro::List => {
                let mut values = Vec::new();
                for pair in self.filtered(it, pairs)? {
                    values.push(self.within(it, &pair, |this| this.value(it.body))?);
                }
                Ok(Value::list(values))
            }
            PairMacro::Map => {
                let mut entries = Vec::new();
                for pair in self.filtered(it, pairs)? {
                    let value = self.within(it, &pair, |this| this.value(it.body))?;
                    entries.push((pair.0, value));
                }
                Ok(Value::Map(Entries::Made(Rc::new(entries))))
            }
            PairMacro::Entries => self.entries(it, pairs),
        }
    }

    /// What is visited.
    fn pairs_of(&mut self, it: &Pairs<'a>) -> Result<Vec<Pair<'a>>, Fault> {
        let pairs: Vec<Pair<'a>> = match self.value(it.range)? {
            Value::List(list) => {
                let places = (0..).map(Value::Int);
                places.zip(list.iter()).collect()
            }
            Value::Map(map) => map.to_vec(),
            other => {
                let name = functions::go_name(&other);
                return Err(Fault::new(format!("got '{name}', expected iterable type")));
            }
        };
        self.budget.spend(pairs.len() as u64)?;
        Ok(pairs)
    }

    /// Does something while the two names stand for a pair.
    fn within<T>(
        &mut self,
        it: &Pairs<'a>,
        (key, value): &Pair<'a>,
        act: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let depth = self.scopes.len();
        self.scopes.push((it.key, Ok(key.clone())));
        self.scopes.push((it.value, Ok(value.clone())));
        let done = act(self);
        self.scopes.truncate(depth);
        done
    }

    fn filtered(&mut self, it: &Pairs<'a>, pairs: Vec<Pair<'a>>) -> Result<Vec<Pair<'a>>, Fault> {
        let Some(filter) = it.filter else { return Ok(pairs) };
        let mut kept = Vec::new();
        for pair in pairs {
            if self.within(it, &pair, |this| this.is_true(filter))? {
                kept.push(pair);
            }
        }
        Ok(kept)
    }

    /// `all` and `exists`: one deciding value decides, whatever befalls the others.
    fn decide(&mut self, it: &Pairs<'a>, pairs: Vec<Pair<'a>>, deciding: bool) -> Outcome<'a> {
        let mut failed = None;
        for pair in pairs {
            match self.within(it, &pair, |this| this.is_true(it.body)) {
                Ok(value) if value == deciding => return Ok(Value::Bool(deciding)),
                Ok(_) => {}
                Err(Fault::Exhausted) => return Err(Fault::Exhausted),
                Err(fault) => failed = Some(fault),
            }
        }
        failed.map_or(Ok(Value::Bool(!deciding)), Err)
    }

    fn entries(&mut self, it: &Pairs<'a>, pairs: Vec<Pair<'a>>) -> Outcome<'a> {
        let mut entries: Vec<Pair<'a>> = Vec::new();
        for pair in self.filtered(it, pairs)? {
            let made = match self.within(it, &pair, |this| this.value(it.body))? {
                Value::Map(map) => map.to_vec(),
                other => return Err(functions::no_overload_for("cel.@mapInsert", &other)),
            };
            for (key, value) in made {
                for (known, _) in &entries {
                    if known.equals(&key, self.budget)? {
                        let key = functions::shown(&key);
                        return Err(Fault::new(format!("insert failed: key {key} already exists")));
                    }
                }
                entries.push((key, value));
            }
        }
        Ok(Value::Map(Entries::Made(Rc::new(entries))))
    }

    pub(super) fn sort_by(&mut self, it: &SortBy<'a>) -> Outcome<'a> {
        let list = match self.value(it.list)? {
            Value::List(list) => list,
            other => return Err(functions::no_overload_for("sortBy", &other)),
        };
        let mut keyed: Vec<Pair<'a>> = Vec::with_capacity(list.len());
        for value in list.iter() {
            self.scopes.push((it.element, Ok(value.clone())));
            let key = self.value(it.key);
            self.scopes.pop();
            keyed.push((key?, value));
        }
        let comparisons = keyed.len() as u64 * u64::from(keyed.len().max(2).ilog2());
        self.budget.spend(comparisons)?;
        let odd = keyed.iter().find(|(key, _)| key.compare(&keyed[0].0).is_none());
        if let Some((odd, _)) = odd {
            return Err(functions::no_overload_for("sortBy", odd));
        }
        keyed.sort_by(|(a, _), (b, _)| a.compare(b).unwrap_or(Ordering::Equal));
        Ok(Value::list(keyed.into_iter().map(|(_, value)| value).collect()))
    }
}
