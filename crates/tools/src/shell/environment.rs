//! The environment commands run in: nothing that prompts, pages or edits, and no keys.

use std::ffi::OsString;
use std::sync::LazyLock;

use regex::Regex;
use stepwell_tool_runtime::Redactor;
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

/// Words in a name that make its value a secret wherever they stand.
const SECRET_WORDS: &[&str] = &[
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWORDS",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "CRED",
    "APIKEY",
    "APITOKEN",
    "PRIVATEKEY",
    "PGPASSWORD",
    "BEARER",
    "JWT",
];
/// Words that do so at the end of a name.
const LAST_WORDS: &[&str] = &[
    "TOKEN", "TOKENS", "KEY", "KEYS", "PASS", "PWD", "PAT", "AUTH", "DSN", "SK", "COOKIE", "PSK", "PEM",
    "LICENSE", "SEED", "MNEMONIC", "SALT", "OTP", "WEBHOOK",
];
/// Endings of several words, and names of one.
const ENDINGS: &[&str] = &[
    "_CONNECTION_STRING",
    "_CONN_STR",
    "_CONNECTION_URL",
    "_DATABASE_URL",
    "_REDIS_URL",
    "_MONGO_URL",
    "_WEBHOOK_URL",
];
const NAMES: &[&str] = &["DATABASE_URL", "REDIS_URL", "MONGO_URL", "AMQP_URL", "TOKEN", "CONNECTION_STRING"];

/// Whether a variable of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> = name.split(['_', '-', '.']).filter(|word| !word.is_empty()).collect();
    // `OPENAI_KEY2` and `DB_PASSWORD_1` are further ones.
    let plain = |word: &&str| word.trim_end_matches(|digit: char| digit.is_ascii_digit()).to_owned();
    let words: Vec<String> = words.iter().map(plain).filter(|word| !word.is_empty()).collect();
    let joined = words.join("_");
    let ends = words.last().is_some_and(|last| words.len() > 1 && LAST_WORDS.contains(&last.as_str()));
    NAMES.contains(&joined.as_str())
        || ends
        || words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
        || joined.contains("API_KEY")
        || joined.contains("PRIVATE_KEY")
        || joined.contains("ACCESS_KEY")
        || ENDINGS.iter().any(|ending| joined.ends_with(ending))
}

/// Whether a value is a secret whatever its variable is called: a token of a known kind, a key, an address with a
/// password.
pub fn is_secret_value(value: &str) -> bool {
    value.contains("-----BEGIN ") && value.contains("KEY-----")
        || Redactor::new().redact(value) != value
        || VALUE.as_ref().is_some_and(|shape| shape.is_match(value))
}

/// Values that are secrets as the whole of a variable; in a text they would be too common.
static VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = [
        // `Bearer abc`, as the value of a header.
        r"^(?i:bearer|basic|token)[ \t]+\S{8,}$",
        // A field of a connection string or a query.
        r"(?i)(?:^|[;&?\s])(?:password|passwd|pwd|pass|secret|token|access_?token|api_?key|client_?secret|sig)=[^;&\s]{3,}",
        // A line of `.netrc`.
        r"(?i)\blogin\s+\S+\s+password\s+\S+",
        // `user:password@host` without a scheme.
        r"^[^\s/:@]+:[^\s/@]{6,}@[A-Za-z0-9.-]+",
        // Twilio.
        r"^SK[0-9a-f]{32}$",
    ];
    Regex::new(&shapes.map(|shape| format!("(?:{shape})")).join("|")).ok()
});

/// The secrets among this process's variables: what a redactor must know, and what programs do not get.
pub fn secret_variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| is_secret_name(name) || is_secret_value(value))
        .collect()
}

/// The environment without secrets and without the variables named here.
pub(crate) fn for_commands(further: &[String]) -> Environment {
    let secrets = secret_variables().into_iter().map(|(name, _)| OsString::from(name));
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
            "OPENAI_KEY2",
            "PGPASSWORD",
            "CREDS",
            "AWS_CREDS",
            "SENTRY_DSN",
            "STRIPE_SK",
            "DB_PASSWORD_1",
            "SECRET_VALUE",
            "MY_PRIVATE_KEY_PATH",
            "DATABASE_URL",
            "PROD_DATABASE_URL",
            "STORAGE_CONNECTION_STRING",
            "SESSION_COOKIE",
            "WIFI_PSK",
        ];
        for name in secret {
            assert!(is_secret_name(name), "{name}");
        }
        // The path of an agent's socket is no secret, and git needs it.
        for name in [
            "SSH_AUTH_SOCK",
            "PWD",
            "OLDPWD",
            "PATH",
            "KEYBOARD",
            "TERM",
            "TOKENIZERS_PARALLELISM",
            "MAX_TOKEN_COUNT",
            "PASSENGER_APP",
            "DESK",
            "KEYMAP",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn secrets_are_known_by_their_values() {
        for value in [
            "postgres://app:hunter2secret@db.example.com/app",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "sk-ant-api03-0123456789abcdefghij",
            "AKIAIOSFODNN7EXAMPLE",
            "xoxb-1234567890-abcdefghij",
            "glpat-0123456789abcdefghij",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz",
            "Bearer abcdefghijklmnop0123",
            "Basic dXNlcjpwYXNzd29yZA==",
            "Server=h;Database=d;User Id=u;Password=hunter2secret;",
            "jdbc:mysql://h/db?user=u&password=hunter2secret",
            "machine example.com login me password hunter2",
            "me:hunter2secret@db.example.com",
            "https://0123456789abcdef0123456789abcdef@o1.example.com/1",
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=0123456789abcdefghijABCDEFGHIJ0123456789abcdefghij==",
        ] {
            assert!(is_secret_value(value), "{value}");
        }
        for value in [
            "/usr/bin:/bin",
            "https://example.com/path",
            "xterm-256color",
            "sk-learn",
            "-----BEGIN CERTIFICATE-----",
            "basic",
            "bearer of news",
            "git@example.com:me/repository.git",
            "https://example.com/?page=2&sort=name",
            "0123456789abcdef0123456789abcdef01234567",
            "user@example.com",
            "localhost:8080",
            "unix:path=/run/user/1000/bus",
        ] {
            assert!(!is_secret_value(value), "{value}");
        }
    }
}
