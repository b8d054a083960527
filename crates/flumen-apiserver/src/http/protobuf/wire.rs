//! The bytes of protobuf.

const VARINT: u32 = 0;
const DOUBLE: u32 = 1;
const BYTES: u32 = 2;

#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn done(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn number(&mut self, field: u32, value: i64) {
        self.tag(field, VARINT);
        self.varint(value.cast_unsigned());
    }

    pub(crate) fn double(&mut self, field: u32, value: f64) {
        self.tag(field, DOUBLE);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    pub(crate) fn bytes(&mut self, field: u32, value: &[u8]) {
        self.tag(field, BYTES);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// A message whose only field holds bytes.
    pub(crate) fn wrapped(&mut self, field: u32, inner: u32, value: &[u8]) {
        let mut message = Self::default();
        message.bytes(inner, value);
        self.bytes(field, &message.0);
    }

    fn tag(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(low(value) | 0x80);
            value >>= 7;
        }
        self.0.push(low(value));
    }
}

/// The lowest seven bits.
fn low(value: u64) -> u8 {
    value.to_le_bytes()[0] & 0x7f
}
