//! Answers about secrets, without what the server quotes of them.
//!
//! A server that cannot make sense of a field says what it found there. Where that ends cannot be told
//! for sure, so the rest of the message goes.

use flumen_object::Gvk;

use crate::Error;

/// What stands before something quoted.
const QUOTES: [&str; 2] = ["got &", ", error found in #"];
const MASK: &str = "***";

pub(crate) fn without_quotes(mut error: Error, gvk: &Gvk) -> Error {
    if let Error::Refused(status) = &mut error
        && gvk.group.is_empty()
        && gvk.kind == "Secret"
    {
        let causes = status.causes.iter_mut().map(|cause| &mut cause.message);
        for message in causes.chain([&mut status.message]) {
            if let Some(start) = QUOTES.iter().filter_map(|quote| message.find(quote)).min() {
                message.truncate(start);
                message.push_str(MASK);
            }
        }
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cause, Status};

    fn shown(kind: &str, message: &str) -> String {
        let cause = Cause { message: message.to_owned(), ..Cause::default() };
        let status =
            Status { message: message.to_owned(), causes: vec![cause], ..Status::default() };
        let gvk = Gvk::new(&"v1".into(), kind.into());
        let error = without_quotes(Error::Refused(Box::new(status)), &gvk);
        let status = error.status().expect("a status");
        assert_eq!(status.message, status.causes[0].message);
        status.message.clone()
    }

    #[test]
    fn what_a_server_quotes_of_a_secret_goes() {
        let message = ".data: expected map, got &{hunter2\nhunter3}";
        assert_eq!(shown("Secret", message), ".data: expected map, ***");
        assert_eq!(shown("ConfigMap", message), message);
        let message = "illegal base64 data, error found in #10 byte of ...|hunter2|...";
        assert_eq!(shown("Secret", message), "illegal base64 data***");
        assert_eq!(
            shown("Secret", "data[tls.key]: Required value"),
            "data[tls.key]: Required value"
        );
    }
}
