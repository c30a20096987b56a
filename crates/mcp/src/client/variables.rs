//! Variables in entries: `${VAR}`, `${VAR:-default}`, `${env:VAR}` and `${workspaceFolder}`.

/// Where the values of variables come from.
pub(crate) trait Lookup {
    fn value(&self, name: &str) -> Option<String>;
}

impl<F: Fn(&str) -> Option<String>> Lookup for F {
    fn value(&self, name: &str) -> Option<String> {
        self(name)
    }
}

/// Replaces the variables of a text. The error is the name of the first one that has no value.
pub(crate) fn expand(text: &str, variables: &dyn Lookup) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        out.push_str(&rest[..start]);
        let after = &rest[start + 2..];
        let Some(end) = after.find('}') else {
            out.push_str(&rest[start..]);
            return Ok(out);
        };
        let inside = &after[..end];
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        match variables.value(name).filter(|value| default.is_none() || !value.is_empty()) {
            Some(value) => out.push_str(&value),
            None => out.push_str(default.ok_or_else(|| name.to_owned())?),
        }
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_variable_is_replaced() {
        let known = |name: &str| match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        for (text, expected) in [
            ("plain $A {A}", Ok("plain $A {A}")),
            ("${A}${A}", Ok("11")),
            ("x${env:A}y", Ok("x1y")),
            ("${B:-two}/${B:-}", Ok("two/")),
            ("${A:-two}", Ok("1")),
            ("${EMPTY:-two}${EMPTY}", Ok("two")),
            ("${A", Ok("${A")),
            ("${B}", Err("B")),
            ("${env:B}", Err("B")),
        ] {
            let found = expand(text, &known);
            let found = found.as_ref().map(String::as_str).map_err(String::as_str);
            assert_eq!(found, expected, "{text}");
        }
    }
}
