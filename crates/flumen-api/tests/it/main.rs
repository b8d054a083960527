//! The types as their users see them: reading, rules, definitions.

mod conditions;
mod corpus;
mod definitions;
mod reading;
mod revision;
