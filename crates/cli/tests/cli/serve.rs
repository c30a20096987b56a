//! `stepwell serve` and `stepwell web`: one server for a person, and what its clients see when it dies.

mod registry;
mod server;
mod windows;
