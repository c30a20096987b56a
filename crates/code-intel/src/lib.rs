//! What source code says.
//!
//! [`languages`] tells in which language a file is written, by its name or its first line. [`syntax`] parses it with
//! the grammar of that language and lists what is wrong, within bounds of size and time. Nothing here touches a file:
//! texts come in, facts go out.

mod grammars;
pub mod languages;
pub mod syntax;
