//! The API in the form of OpenAPI 3.1, made from the schemas of `protocol`.

use serde_json::{Value, json};

pub(crate) fn document(version: &str) -> Value {
    json!({ "openapi": "3.1.0", "info": { "title": "Stepwell", "version": version } })
}
