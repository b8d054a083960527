//! Moves whole graphs from one repository to another.
