//! Every wire format over real HTTP against the scripted server.

mod answers;
mod failures;
mod requests;
mod support;
