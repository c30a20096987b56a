//! Output schema against input schema.

use std::fmt;

use serde_json::Value;

use crate::arguments::required;

/// Why an output cannot be another tool's input as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The input requires a field the output does not surely have.
    Missing {
        field: String,
    },
    Type {
        field: String,
        output: String,
        input: String,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { field } => write!(f, "the required `{field}` is missing"),
            Self::Type { field, output, input } => write!(f, "`{field}` is {output} and must be {input}"),
        }
    }
}

/// What keeps an output of one schema from being the input of the other; empty when they fit.
///
/// Fields are matched by name. An output that is no object fits an input with one required field of its type.
pub fn compatibility(output: &Value, input: &Value) -> Vec<Misfit> {
    let wanted: Vec<&str> = required(input).collect();
    let input_fields = input.get("properties").and_then(Value::as_object);
    let field_schema = |name: &str| input_fields.and_then(|fields| fields.get(name));
    let Some(output_fields) = output.get("properties").and_then(Value::as_object) else {
        return match wanted.as_slice() {
            [only] => {
                field_schema(only).and_then(|schema| mismatch(only, output, schema)).into_iter().collect()
            }
            [] => Vec::new(),
            many => many.iter().map(|field| Misfit::Missing { field: (*field).to_owned() }).collect(),
        };
    };
    let surely: Vec<&str> = required(output).collect();
    let mut misfits = Vec::new();
    for field in &wanted {
        if !output_fields.contains_key(*field) || !surely.contains(field) {
            misfits.push(Misfit::Missing { field: (*field).to_owned() });
        }
    }
    for (name, schema) in output_fields {
        misfits.extend(field_schema(name).and_then(|wanted| mismatch(name, schema, wanted)));
    }
    misfits
}

fn mismatch(field: &str, output: &Value, input: &Value) -> Option<Misfit> {
    let (given, wanted) = (types(output), types(input));
    let fits = given.is_empty()
        || wanted.is_empty()
        || given
            .iter()
            .any(|kind| wanted.contains(kind) || (*kind == "integer" && wanted.contains(&"number")));
    (!fits).then(|| Misfit::Type {
        field: field.to_owned(),
        output: given.join(" or "),
        input: wanted.join(" or "),
    })
}

/// The types a schema names; none means any.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect()
        }
        _ => Vec::new(),
    }
}
