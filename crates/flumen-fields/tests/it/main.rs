//! Ownership of fields, seen through the writes of several managers on one object.

mod apply;
mod conflicts;
mod lists;
mod managers;
mod properties;
mod subject;
mod versions;
