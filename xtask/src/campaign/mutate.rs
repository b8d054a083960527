//! Changes to a YAML file, from the plausible to the rude.
//!
//! Most changes work on lines and keep the file close to something a person might write by
//! mistake: such inputs reach deep into the build. A few work on bytes and mostly try the reader.

use flumen_testkit::Random;

/// Scalars that have tripped readers, writers and type checks before.
const SCALARS: [&str; 38] = [
    "null",
    "~",
    "true",
    "yes",
    "on",
    "0",
    "-1",
    "007",
    "0x1F",
    "0o17",
    "1e3",
    ".inf",
    "1_000",
    "12:30",
    "2001-12-14",
    "''",
    "\"\"",
    "[]",
    "{}",
    "[a, b]",
    "{a: b}",
    "- x",
    "*a",
    "&a x",
    "!!str 1",
    "!!binary aGk=",
    "!custom x",
    "|-\n  text",
    ">\n  folded\n  text",
    "\"\\u263a\"",
    "'it''s'",
    "a: b",
    "# comment",
    "9223372036854775808",
    "a/b~c",
    "..",
    "/etc/hosts",
    "$(X)",
];

/// Pieces of syntax to drop in anywhere.
const TOKENS: [&str; 16] = [
    ":",
    "- ",
    "? ",
    "\t",
    "  ",
    "\r",
    "\n---\n",
    "\n...\n",
    "\u{feff}",
    "\u{85}",
    "\0",
    "%YAML 1.1\n",
    "<<: *a\n",
    "$patch: delete\n",
    "'",
    "\"",
];

/// Changes `bytes` once; `donor` is another file to take lines from.
pub(super) fn change(bytes: &mut Vec<u8>, donor: &[u8], random: &mut Random) {
    match random.below(16) {
        0 => {
            let at = random.index(bytes.len() + 1);
            bytes.truncate(at);
        }
        1 => {
            let at = random.index(bytes.len());
            let bit = 1 << random.below(8);
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= bit;
            }
        }
        2 => {
            let at = random.index(bytes.len() + 1);
            let token = random.pick(&TOKENS).bytes();
            bytes.splice(at..at, token);
        }
        _ => {
            // Only text has lines; what is not text keeps to the changes above.
            if let Ok(text) = std::str::from_utf8(bytes) {
                *bytes = change_lines(text, &String::from_utf8_lossy(donor), random).into_bytes();
            }
        }
    }
}

fn change_lines(text: &str, donor: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        lines.push(String::new());
    }
    let at = random.index(lines.len());
    match random.below(9) {
        0 => {
            lines.remove(at);
        }
        1 => lines.insert(at, lines[at].clone()),
        2 => {
            let other = random.index(lines.len());
            lines.swap(at, other);
        }
        3 => lines[at].insert_str(0, "  "),
        4 => {
            if lines[at].starts_with("  ") {
                lines[at].drain(..2);
            }
        }
        5 => {
            let donors: Vec<&str> = donor.lines().collect();
            if !donors.is_empty() {
                lines.insert(at, (*random.pick(&donors)).to_owned());
            }
        }
        6 => {
            // A key somewhere else, or twice.
            let other = lines[random.index(lines.len())].trim_start().to_owned();
            let indent = lines[at].len() - lines[at].trim_start().len();
            lines.insert(at, format!("{}{other}", " ".repeat(indent)));
        }
        7 => {
            let value = *random.pick(&SCALARS);
            lines[at] = match lines[at].split_once(':') {
                Some((key, _)) => format!("{key}: {value}"),
                None => format!("{} {value}", lines[at]),
            };
        }
        _ => {
            let value = *random.pick(&SCALARS);
            if let Some((_, rest)) = lines[at].split_once(':') {
                let indent = lines[at].len() - lines[at].trim_start().len();
                lines[at] = format!("{}{value}:{rest}", " ".repeat(indent));
            }
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_changes() {
        let changed = |seed| {
            let mut bytes = b"a: 1\nb:\n- c\n".to_vec();
            let mut random = Random::new(seed);
            for _ in 0..100 {
                change(&mut bytes, b"d: 2\n", &mut random);
            }
            bytes
        };
        assert_eq!(changed(7), changed(7));
        assert_ne!(changed(7), changed(8));
    }

    #[test]
    fn empty_files_are_changed_too() {
        for seed in 0..200 {
            change(&mut Vec::new(), b"", &mut Random::new(seed));
        }
    }
}
