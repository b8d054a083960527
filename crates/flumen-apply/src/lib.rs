//! From objects to a healthy cluster: plan, staged apply, inventory, prune, wait.
//!
//! ```text
//! ObjectSet ─▶ desired ─▶ review (dry run) ─▶ write-ahead ─▶ write ─▶ prune ─▶ wait ─▶ commit
//!                 live ──────┘                    └───────── InventoryStore ────────────┘
//! ```
//!
//! [`apply`] is a whole run; its file shows the order of effects. [`plan`] stops after the review, [`delete`]
//! takes everything back.

mod config_map;
mod delete;
mod deployment;
mod desired;
mod error;
mod gone;
mod inventory;
mod kinds;
mod listed;
mod live;
mod marks;
mod options;
mod owner;
mod plan;
mod plan_file;
mod prune;
mod report;
mod rescue;
mod review;
mod run;
mod store;
mod wait;
mod watched;
mod write;

pub use config_map::ConfigMapStore;
pub use delete::delete;
pub use deployment::{Deployment, Result as DeploymentResult};
pub use error::{Error, ObjectError};
pub use inventory::{Entry, Inventory, Seen};
pub use listed::{Listed, inventories};
pub use marks::Marks;
pub use options::{Options, Prune};
pub use owner::{MAX_INVENTORY_NAME, Owner, is_inventory_name};
pub use plan::{Plan, Planned, plan};
pub use plan_file::{PlanFile, PlanFileError, PlanSubject};
pub use report::{Action, Change, Pending, Progress, Report, Silent};
pub use run::{Outcome, apply};
pub use store::{InventoryStore, Recorded};
pub use wait::{WaitOptions, Waited, until_healthy, wait};
pub use watched::{Sight, Sighting, Watched};
