//! The writer: one tree, one document, the bytes that `kustomize build` would print.
//!
//! Those come from go-yaml v2, at the end of a way through JSON. What the way does to values is in
//! [`passage`] and in [`canonical`]; what the printer does is here and in [`scalar`]. Sequences start
//! at the column of their key, mappings two further in, and every scalar ends its line.

mod ambiguous;
mod analysis;
mod error;
mod passage;
mod scalar;

use self::{
    analysis::{
        FRAGILE, Form, HIGH, LINE_FEED, RETURN, SEPARATOR, choose, is_plain_word, scan_high,
    },
    passage::{SAFE_KEY, check_key, through_json},
    scalar::{Place, double, literal, pad, plain, single},
};
use crate::{
    Canonical, Entry, Map, Node, Pos, Scalar, Tag, Value, canonical,
    natural_order::{less, sort_by_key},
    number::push_yaml_float,
};

pub use self::error::{EmitError, Unprintable};
pub(crate) use self::{analysis::scan, error::Failure, passage::reread};

/// Whether a key in which [`scan`] saw this needs no quotes, without a closer look.
#[inline]
pub(crate) fn is_plain_key(key: &str, seen: u8) -> bool {
    seen == 0 && key.len() <= SAFE_KEY && is_plain_word(key)
}

/// Keys of more bytes are introduced by `?`.
const SIMPLE_KEY: usize = 128;
const MERGE_KEY: &str = "<<";

/// Appends `node` to `out` as one document.
///
/// The text ends in a line break (the line break U+2028, if a block at the end does).
/// After an error, what stands in `out` beyond its former length is of no use.
pub fn emit(node: &Node, out: &mut Vec<u8>) -> Result<(), EmitError> {
    let mut printer = Printer { out, order: Order::default() };
    printer.document(node).map_err(EmitError::from)
}

struct Printer<'a> {
    out: &'a mut Vec<u8>,
    order: Order,
}

impl Printer<'_> {
    fn document(&mut self, node: &Node) -> Result<(), Failure> {
        match &node.value {
            Value::Map(map) if !map.is_empty() => self.map(map, 0, false),
            Value::Seq(items) if !items.is_empty() => self.seq(items, 0, false),
            _ => self.leaf(node, 0, 2),
        }
    }

    /// Prints the entries of a mapping; the first one where the cursor is, if `inline`.
    fn map(&mut self, map: &Map, indent: usize, mut inline: bool) -> Result<(), Failure> {
        let entries = map.entries();
        let sorted = self.order.push(entries);
        for position in 0..entries.len() {
            let Some(entry) = entries.get(self.order.index(&sorted, position)) else { continue };
            if !inline {
                pad(self.out, indent);
            }
            inline = false;
            self.entry(entry, indent)?;
        }
        self.order.pop(&sorted);
        Ok(())
    }

    fn entry(&mut self, entry: &Entry, indent: usize) -> Result<(), Failure> {
        let Entry { key, key_pos, value } = entry;
        let in_key = |failure: Failure| failure.in_key(key);
        let simple_width = self.key(key, *key_pos, indent).map_err(in_key)?;
        let simple = simple_width.is_some();
        self.out.push(b':');
        match &value.value {
            Value::Map(map) if !map.is_empty() => {
                self.out.push(if simple { b'\n' } else { b' ' });
                self.map(map, indent + 2, !simple).map_err(in_key)
            }
            Value::Seq(items) if !items.is_empty() => {
                self.out.push(if simple { b'\n' } else { b' ' });
                let indent = if simple { indent } else { indent + 2 };
                self.seq(items, indent, !simple).map_err(in_key)
            }
            _ => {
                self.out.push(b' ');
                // Behind the key, the colon and a space, or behind a colon and a space.
                let column = indent + simple_width.map_or(2, |width| width + 2);
                self.leaf(value, column, indent + 2).map_err(in_key)
            }
        }
    }

    fn seq(&mut self, items: &[Node], indent: usize, mut inline: bool) -> Result<(), Failure> {
        for (index, item) in items.iter().enumerate() {
            let at_index = |failure: Failure| failure.in_index(index);
            if !inline {
                pad(self.out, indent);
            }
            inline = false;
            self.out.extend_from_slice(b"- ");
            match &item.value {
                Value::Map(map) if !map.is_empty() => {
                    self.map(map, indent + 2, true).map_err(at_index)?;
                }
                Value::Seq(items) if !items.is_empty() => {
                    self.seq(items, indent + 2, true).map_err(at_index)?;
                }
                _ => self.leaf(item, indent + 2, indent + 2).map_err(at_index)?,
            }
        }
        Ok(())
    }

    /// Prints what takes no lines of its own, and ends the line.
    fn leaf(&mut self, node: &Node, column: usize, indent: usize) -> Result<(), Failure> {
        let printed = match &node.value {
            Value::Scalar(scalar) => self.scalar(scalar, column, indent),
            Value::Seq(_) => {
                self.out.extend_from_slice(b"[]\n");
                Ok(())
            }
            Value::Map(_) => {
                self.out.extend_from_slice(b"{}\n");
                Ok(())
            }
        };
        printed.map_err(|reason| Failure::new(node.pos, reason))
    }

    fn scalar(&mut self, scalar: &Scalar, column: usize, indent: usize) -> Result<(), Unprintable> {
        match scalar.tag {
            Tag::Str | Tag::Merge => return self.string(&reread(scalar)?, column, indent),
            Tag::Int if is_short_decimal(&scalar.text) => {
                self.out.extend_from_slice(scalar.text.as_bytes());
            }
            _ => match canonical(scalar)? {
                Canonical::Null => self.out.extend_from_slice(b"null"),
                Canonical::Bool(true) => self.out.extend_from_slice(b"true"),
                Canonical::Bool(false) => self.out.extend_from_slice(b"false"),
                Canonical::Int(value) => self.out.extend_from_slice(value.to_string().as_bytes()),
                Canonical::Float(value) => push_yaml_float(self.out, value),
                Canonical::Str(text) => return self.string(&text, column, indent),
            },
        }
        self.out.push(b'\n');
        Ok(())
    }

    fn string(&mut self, text: &str, column: usize, indent: usize) -> Result<(), Unprintable> {
        let mut seen = scan(text);
        if seen == 0 && is_plain_word(text) {
            plain(self.out, text, seen, Place { column, fold: Some(indent) });
            self.out.push(b'\n');
            return Ok(());
        }
        if seen & HIGH != 0 {
            let high = scan_high(text);
            if high & FRAGILE != 0 {
                return self.string(&through_json(text)?, column, indent);
            }
            seen |= high;
        }
        self.text(text, seen, column, indent);
        Ok(())
    }

    fn text(&mut self, text: &str, seen: u8, column: usize, indent: usize) {
        let place = Place { column, fold: Some(indent) };
        match choose(text, seen) {
            Form::Plain => plain(self.out, text, seen, place),
            Form::Single => single(self.out, text, seen, place),
            Form::Double => double(self.out, text, place),
            Form::Literal => return literal(self.out, text, seen, indent),
        }
        self.out.push(b'\n');
    }

    /// Prints a key up to where its `:` belongs. Returns how many characters it took, or none if the
    /// `:` goes to a line of its own because the key is introduced by `?`.
    fn key(&mut self, key: &str, pos: Pos, indent: usize) -> Result<Option<usize>, Failure> {
        let mut seen = scan(key);
        if is_plain_key(key, seen) {
            self.out.extend_from_slice(key.as_bytes());
            return Ok(Some(key.len()));
        }
        // go-yaml v2 prints it without quotes, and the reference then fails to read its own output.
        if key == MERGE_KEY {
            return Err(Failure::new(pos, Unprintable::MergeKey));
        }
        if seen & HIGH != 0 {
            seen |= scan_high(key);
        }
        if seen & FRAGILE != 0 || key.len() > SAFE_KEY {
            check_key(key).map_err(|reason| Failure::new(pos, reason))?;
        }
        if key.len() > SIMPLE_KEY || seen & (LINE_FEED | RETURN | SEPARATOR) != 0 {
            self.out.extend_from_slice(b"? ");
            self.text(key, seen, indent + 2, indent + 2);
            pad(self.out, indent);
            return Ok(None);
        }
        let place = Place { column: indent, fold: None };
        let start = self.out.len();
        match choose(key, seen) {
            Form::Plain => plain(self.out, key, seen, place),
            Form::Single => single(self.out, key, seen, place),
            Form::Double | Form::Literal => double(self.out, key, place),
        }
        Ok(Some(chars(&self.out[start..])))
    }
}

fn chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

/// Whether an integer is spelled as it would be printed.
fn is_short_decimal(text: &str) -> bool {
    match text.as_bytes() {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 18 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// The printing orders of all mappings that are open, in one stack.
#[derive(Default)]
struct Order {
    indices: Vec<u32>,
    scratch: Vec<u32>,
}

/// The order of one mapping.
enum Sorted {
    /// As the entries are.
    AsIs,
    /// From this place of the stack on.
    From(usize),
}

impl Order {
    fn push(&mut self, entries: &[Entry]) -> Sorted {
        if entries.windows(2).all(|pair| !less(&pair[1].key, &pair[0].key)) {
            return Sorted::AsIs;
        }
        let start = self.indices.len();
        self.indices.extend((0u32..).take(entries.len()));
        let key = |index| &*entries[index as usize].key;
        sort_by_key(&mut self.indices[start..], &mut self.scratch, key);
        Sorted::From(start)
    }

    fn index(&self, sorted: &Sorted, position: usize) -> usize {
        match sorted {
            Sorted::AsIs => position,
            Sorted::From(start) => self.indices[start + position] as usize,
        }
    }

    fn pop(&mut self, sorted: &Sorted) {
        if let Sorted::From(start) = sorted {
            self.indices.truncate(*start);
        }
    }
}
