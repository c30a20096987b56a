//! The server at its boundary: requests and sockets against an engine of the tests' own.

mod attacks;
mod engine;
mod folds;
mod requests;
mod sockets;
mod stand;
