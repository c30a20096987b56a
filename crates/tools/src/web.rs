//! Tools that read other machines' pages. Addresses of this machine and of private networks are refused, after names are
//! resolved and at every redirect, unless a rule opens a port of this machine.

mod fetch;
mod page_text;
pub(crate) mod reach;

pub use fetch::Fetch;
