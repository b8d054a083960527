//! Whether an object is healthy.
//!
//! Pure rules over one object at one time: what is called ready, in progress or failed is what users of
//! kubectl, Flux and kustomizer are used to. Who reads the object, and when again, is decided above.

mod health;

pub use health::{Condition, Health, Status};
