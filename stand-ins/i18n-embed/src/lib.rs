//! Stands in for the crate of this name: the part of its interface that `age` uses, without languages.

/// The one language there is.
pub mod unic_langid {
    use std::{convert::Infallible, str::FromStr};

    #[derive(Clone, Copy, Debug)]
    pub struct LanguageIdentifier;

    impl FromStr for LanguageIdentifier {
        type Err = Infallible;

        fn from_str(_: &str) -> Result<Self, Infallible> {
            Ok(Self)
        }
    }
}

pub mod fluent {
    use crate::{I18nAssets, I18nEmbedError, LanguageLoader, unic_langid::LanguageIdentifier};

    pub use crate::fluent_language_loader;

    #[derive(Clone, Copy, Debug)]
    pub struct FluentLanguageLoader;

    impl FluentLanguageLoader {
        pub fn load_languages(
            &self,
            _: &dyn I18nAssets,
            _: &[LanguageIdentifier],
        ) -> Result<(), I18nEmbedError> {
            Ok(())
        }

        pub fn set_use_isolating(&self, _: bool) {}
    }

    impl LanguageLoader for FluentLanguageLoader {}
}

use unic_langid::LanguageIdentifier;

/// Never made.
#[derive(Clone, Copy, Debug)]
pub enum I18nEmbedError {}

pub trait I18nAssets {}

pub trait LanguageLoader {}

pub trait Localizer {
    fn language_loader(&self) -> &'_ dyn LanguageLoader;

    fn i18n_assets(&self) -> &'_ dyn I18nAssets;

    fn select(
        &self,
        requested: &[LanguageIdentifier],
    ) -> Result<Vec<LanguageIdentifier>, I18nEmbedError>;
}

/// Selects nothing: messages are their identifiers in any language.
pub fn select(
    _: &dyn LanguageLoader,
    _: &dyn I18nAssets,
    _: &[LanguageIdentifier],
) -> Result<Vec<LanguageIdentifier>, I18nEmbedError> {
    Ok(Vec::new())
}

#[macro_export]
macro_rules! fluent_language_loader {
    () => {
        $crate::fluent::FluentLanguageLoader
    };
}
