//! Refusals of every dialect, each with its cause and its advice.
