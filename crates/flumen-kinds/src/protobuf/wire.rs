//! Bytes to records of a number and a payload.

/// What a record holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Payload<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32,
    Bytes(&'a [u8]),
}

impl<'a> Payload<'a> {
    fn wire_type(self) -> u8 {
        match self {
            Self::Varint(_) => 0,
            Self::Fixed64(_) => 1,
            Self::Bytes(_) => 2,
            Self::Fixed32 => 5,
        }
    }

    fn wrong<T>(self, name: &str) -> Result<T, String> {
        let mut chars = name.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase());
        let name: String = first.into_iter().chain(chars).collect();
        Err(format!("proto: wrong wireType = {} for field {name}", self.wire_type()))
    }

    pub(super) fn number(self, name: &str) -> Result<u64, String> {
        if let Self::Varint(value) = self { Ok(value) } else { self.wrong(name) }
    }

    /// Go keeps the lower half.
    #[expect(clippy::cast_possible_truncation, reason = "as in Go")]
    pub(super) fn int32(self, name: &str) -> Result<i32, String> {
        self.number(name).map(|value| (value as u32).cast_signed())
    }

    pub(super) fn double(self, name: &str) -> Result<f64, String> {
        if let Self::Fixed64(bits) = self { Ok(f64::from_bits(bits)) } else { self.wrong(name) }
    }

    pub(super) fn bytes(self, name: &str) -> Result<&'a [u8], String> {
        if let Self::Bytes(bytes) = self { Ok(bytes) } else { self.wrong(name) }
    }

    pub(super) fn text(self, name: &str) -> Result<String, String> {
        self.bytes(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

/// The records of a message.
pub(super) struct Records<'a>(&'a [u8]);

impl<'a> Records<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self(message)
    }

    fn record(&mut self) -> Result<(u64, Payload<'a>), String> {
        let tag = varint(&mut self.0)?;
        let number = tag >> 3;
        if number == 0 {
            return Err(format!("proto: illegal tag {number} (wire type {tag})"));
        }
        let payload = match tag & 7 {
            0 => Payload::Varint(varint(&mut self.0)?),
            1 => Payload::Fixed64(u64::from_le_bytes(array(&mut self.0)?)),
            2 => {
                let length = usize::try_from(varint(&mut self.0)?).unwrap_or(usize::MAX);
                let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(unexpected_end)?;
                self.0 = rest;
                Payload::Bytes(bytes)
            }
            5 => {
                // No field of any message is one; it is only skipped.
                let _: [u8; 4] = array(&mut self.0)?;
                Payload::Fixed32
            }
            kind => return Err(format!("proto: illegal wireType {kind}")),
        };
        Ok((number, payload))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u64, Payload<'a>), String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let record = self.record();
        if record.is_err() {
            self.0 = &[];
        }
        Some(record)
    }
}

/// Numbers without tags between them.
pub(super) fn packed(mut bytes: &[u8]) -> impl Iterator<Item = Result<Payload<'_>, String>> {
    std::iter::from_fn(move || {
        (!bytes.is_empty()).then(|| {
            let value = varint(&mut bytes).map(Payload::Varint);
            if value.is_err() {
                bytes = &[];
            }
            value
        })
    })
}

fn varint(bytes: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or_else(unexpected_end)?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Ok(value);
        }
    }
    Err("proto: integer overflow".to_owned())
}

fn array<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], String> {
    let (array, rest) = bytes.split_first_chunk().ok_or_else(unexpected_end)?;
    *bytes = rest;
    Ok(*array)
}

fn unexpected_end() -> String {
    "unexpected EOF".to_owned()
}
