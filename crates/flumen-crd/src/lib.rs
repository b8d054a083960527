//! Custom resource definitions: schemas, pruning, defaults, validation, columns.
