//! Every wire format over real HTTP against the scripted server.

mod answers;
mod failures;
mod properties;
mod requests;
mod speed;
mod support;
