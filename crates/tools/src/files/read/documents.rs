//! Documents as text.

pub mod notebook;
mod office;
pub mod pdf;

use stepwell_protocol::Image;

pub use office::text as office_text;

/// A document's text, and what there is to say of it.
#[derive(Debug)]
pub struct Document {
    pub text: String,
    /// What kind it is and how large: the numbers of lines are those of this text, not of the file.
    pub note: String,
    pub images: Vec<Image>,
}
