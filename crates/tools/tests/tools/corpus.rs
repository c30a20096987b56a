//! Edit attempts.
