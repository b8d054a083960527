//! Commits of Git repositories as file trees.
//!
//! A repository on this machine is opened where it is; one on a server is fetched over HTTP, one
//! commit deep. Either way the files are read from the object database: there is no work tree, and
//! no program is started.
//!
//! ```text
//! GitUrl + GitReference ─▶ resolve ─▶ commit ─▶ open ─▶ Checkout { commit, tree }
//! ```
