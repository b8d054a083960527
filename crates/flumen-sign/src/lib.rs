//! Keys and signatures as cosign makes them: bytes in, verdict out.
//!
//! A signature says two things: who made it, and which content it is for. [`Signature::authenticate`]
//! answers the first against a [`Trust`] and hands out the second as a [`Claim`]; comparing the claim
//! with the content at hand is left to the caller, so that a genuine signature of something else can
//! be told from a forged one.
//!
//! ```text
//! PrivateKey ─▶ payload + signature ─┐
//!            └▶ bundle ──────────────┴▶ Signature ─▶ authenticate(Trust) ─▶ Claim + Signer
//! ```
//!
//! Nothing here reads a file or the network. A trusted root is an input.

mod bundle;
mod claim;
mod encrypted;
mod error;
mod keyless;
mod pem;
mod private_key;
mod public_key;
mod secret;
mod signature;

pub use bundle::{
    MEDIA_TYPE as BUNDLE_MEDIA_TYPE, MEDIA_TYPE_PREFIX as BUNDLE_MEDIA_TYPE_PREFIX,
    PREDICATE_TYPE as BUNDLE_PREDICATE_TYPE,
};
pub use claim::Claim;
pub use error::{KeyError, Refusal, TrustError};
pub use keyless::{Identity, Pattern, TrustedRoot};
pub use private_key::PrivateKey;
pub use public_key::PublicKey;
pub use secret::Password;
pub use signature::{Attested, Signature, Signer, Trust};
