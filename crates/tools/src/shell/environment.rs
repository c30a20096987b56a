//! The environment commands run in: nothing that prompts, pages or edits, and no keys.

use std::ffi::OsString;

use stepwell_workspace::process::Environment;

/// Variables that keep programs from waiting for a person, and make their output plain.
const SET: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
    ("PYTHONUNBUFFERED", "1"),
    ("STEPWELL", "1"),
];

/// Files bash would run first.
const REMOVED: &[&str] = &["BASH_ENV", "ENV", "PROMPT_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS"];

/// Whether a variable of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "_APIKEY",
        "_TOKEN",
        "_SECRET",
        "_KEY",
        "_PASSWORD",
        "_PASSWD",
        "_PASS",
        "_PASSPHRASE",
        "_PWD",
        "_PAT",
        "_CREDENTIAL",
        "_CREDENTIALS",
        "_CONNECTION_STRING",
        "_AUTH",
    ];
    const NAMES: &[&str] =
        &["APIKEY", "TOKEN", "SECRET", "PASSWORD", "PGPASSWORD", "DATABASE_URL", "API_KEY"];
    let name = name.to_ascii_uppercase();
    NAMES.contains(&name.as_str()) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The secrets among this process's variables, by name: what a redactor must know.
pub fn secret_variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| is_secret_name(name))
        .collect()
}

/// The environment without secrets and without the variables named here.
pub(super) fn for_commands(further: &[String]) -> Environment {
    let secrets =
        std::env::vars_os().map(|(name, _)| name).filter(|name| is_secret_name(&name.to_string_lossy()));
    Environment {
        removed: REMOVED
            .iter()
            .map(OsString::from)
            .chain(further.iter().map(OsString::from))
            .chain(secrets)
            .collect(),
        set: SET.iter().map(|(name, value)| (name.into(), value.into())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        let secret = [
            "ANTHROPIC_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "aws_session_token",
            "DB_PASS",
            "GPG_PASSPHRASE",
            "GH_PAT",
            "MYSQL_PWD",
            "OPENAI_KEY",
            "PGPASSWORD",
        ];
        for name in secret {
            assert!(is_secret_name(name), "{name}");
        }
        // The path of an agent's socket is no secret, and git needs it.
        for name in ["SSH_AUTH_SOCK", "PWD", "OLDPWD", "PATH", "KEYBOARD", "TERM"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
