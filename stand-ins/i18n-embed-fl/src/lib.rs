//! Stands in for the crate of this name: a message is its identifier.

#[macro_export]
macro_rules! fl {
    ($loader:expr, $message:expr $(, $argument:expr)* $(,)?) => {
        ::std::string::String::from($message)
    };
}
