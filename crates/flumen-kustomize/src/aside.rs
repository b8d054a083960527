//! What kustomize says of a mistake besides what is wrong.
//!
//! kustomize tries an entry of `resources` as a file, then as a directory, and in the end tells of both. A person
//! wants to read of one of them, so errors are short; programs that read kustomize's messages want all of it.

use std::fmt::Write as _;

/// A part of kustomize's sentence around a mistake.
#[derive(Debug)]
pub(crate) enum Aside {
    /// The mistake is in a file, which was then tried as a directory; why it is none.
    NotDirectory(String),
    /// The mistake is in a directory, which was tried as a file before; why it is none.
    NotFile(String),
    /// What is no YAML is in this file.
    InFile(String),
    /// The mistake is quoted after these words.
    Quoted(&'static str),
    /// The sentence ends with a line break.
    LineBreak,
}

impl Aside {
    pub(crate) fn around(&self, text: String) -> String {
        match self {
            // What is no YAML at all was surely meant to be a file: kustomize stops there.
            Self::NotDirectory(_) if is_malformed(&text) => text,
            Self::InFile(path) if is_malformed(&text) => format!("{text} in File: {path}"),
            Self::InFile(_) => text,
            Self::NotDirectory(why) => format!("accumulation err='{text}': {why}"),
            Self::NotFile(why) => format!("accumulation err='{why}': {text}"),
            Self::Quoted(words) => format!("{words} {}", quoted(&text)),
            Self::LineBreak => text + "\n",
        }
    }
}

fn is_malformed(text: &str) -> bool {
    text.contains("MalformedYAMLError")
}

/// A text as Go quotes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\x{:02x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn each_aside_stands_where_it_was_said() {
        let error = Error::new("no \"kind\"")
            .within("accumulating resources from 'a.yaml'")
            .aside(Aside::NotDirectory("file is not directory".to_owned()))
            .within("accumulating resources")
            .within("recursed accumulation of path '/b'")
            .aside(Aside::NotFile("read /b: is a directory".to_owned()))
            .aside(Aside::Quoted("accumulateDirectory:"))
            .within("accumulating components");
        assert_eq!(
            error.to_string(),
            "accumulating components: recursed accumulation of path '/b': accumulating resources: \
             accumulating resources from 'a.yaml': no \"kind\""
        );
        assert_eq!(
            error.in_kustomize_words(),
            "accumulating components: accumulateDirectory: \"accumulation err='read /b: is a directory': \
             recursed accumulation of path '/b': accumulating resources: accumulation err='accumulating \
             resources from 'a.yaml': no \\\"kind\\\"': file is not directory\""
        );
    }

    #[test]
    fn what_is_no_yaml_is_a_file() {
        let error = Error::new("MalformedYAMLError: yaml: line 1")
            .aside(Aside::InFile("./a.yaml".to_owned()))
            .aside(Aside::NotDirectory("file is not directory".to_owned()))
            .aside(Aside::LineBreak);
        let expected = "MalformedYAMLError: yaml: line 1 in File: ./a.yaml\n";
        assert_eq!(error.in_kustomize_words(), expected);
    }
}
