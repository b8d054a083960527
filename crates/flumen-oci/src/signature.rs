//! Signatures of artifacts, where cosign puts them and looks for them.
