//! GitRepository: a commit of a Git repository.
