//! New tags for artifacts in the local store.

use flumen_pipeline::BuildId;
use jiff::Timestamp;

use crate::error::{CommandError, Failure};

pub(crate) fn new() -> Result<BuildId, CommandError> {
    let mut random = [0; 10];
    aws_lc_rs::rand::fill(&mut random)
        .map_err(|_| Failure::new("the system has no random numbers to give"))?;
    Ok(BuildId::new(Timestamp::now(), random))
}
