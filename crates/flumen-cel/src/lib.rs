//! CEL expressions with a budget.
