//! Why inputs could not be turned into objects.

use thiserror::Error as ThisError;

#[derive(Debug, ThisError)]
pub enum Error {
    #[error("kustomize build failed: {}", .0.message())]
    Kustomize(flumen_kustomize::Error),
}
