//! What only the outermost kustomization of a build is held to.

use super::fields::SortOptions;
use crate::error::{Error, Result};

const FIFO: &str = "fifo";
const LEGACY: &str = "legacy";

/// An order must be one we know, and have no options of another.
pub(crate) fn check_sort_options(options: &SortOptions) -> Result<()> {
    match options.order.as_str() {
        FIFO if options.legacy.is_some() => Err(Error::new(format!(
            "the field 'sortOptions.legacySortOptions' is set but the selected sort order is \
             '{FIFO}', not '{LEGACY}'"
        ))),
        FIFO | LEGACY => Ok(()),
        _ => Err(Error::new(format!(
            "the field 'sortOptions.order' must be one of [{FIFO}, {LEGACY}]"
        ))),
    }
}
