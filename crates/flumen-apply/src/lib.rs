//! From objects to a healthy cluster: plan, staged apply, inventory, prune, wait.
