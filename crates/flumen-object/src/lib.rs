//! The object model: what a manifest is once it has been read.
//!
//! An [`Object`] is a tree with an identity and an [`Origin`]; an [`ObjectSet`] is what every engine
//! hands on: ordered, owning, and able to say for each object where it came from.

mod group_kind;
mod gvk;
mod images;
mod inventory;
mod labels;
mod object;
mod order;
mod origin;
mod quantity;
mod stage;
mod time;

pub use group_kind::{GroupKind, GroupKindError};
pub use gvk::Gvk;
pub use images::container_images;
pub use inventory::InventoryIdError;
pub use labels::{set_annotation, set_label};
pub use object::{Object, ObjectId, ObjectSet};
pub use origin::Origin;
pub use quantity::{Quantity, QuantityError};
pub use stage::Stage;
pub use time::{Precision, TimeError, canonical_time};
