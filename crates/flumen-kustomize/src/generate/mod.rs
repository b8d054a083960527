//! Generators: resources made from literals and files.
