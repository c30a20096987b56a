//! The shapes of well-known tokens. No expression matches across a line end.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Kind and expression. What of a match is kept is said in [`replace`].
const SHAPES: &[(&str, &str)] = &[
    ("aws-key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    ("gitlab-token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("anthropic-key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("api-key", r"\bsk-[A-Za-z0-9_-]{20,}"),
    ("stripe-key", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{20,}"),
    ("slack-token", r"\bxox[abeposr]-[A-Za-z0-9-]{10,}"),
    ("google-key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("huggingface-token", r"\bhf_[A-Za-z0-9]{30,}\b"),
    ("pypi-token", r"\bpypi-[A-Za-z0-9_-]{20,}"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    // Services whose tokens begin with a sign of their own.
    (
        "service-token",
        concat!(
            r"\b(?:dop_v1_[a-f0-9]{40,}|dckr_pat_[A-Za-z0-9_-]{20,}|lin_api_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}",
            r"|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|r8_[A-Za-z0-9]{30,}|pplx-[A-Za-z0-9]{32,}|xai-[A-Za-z0-9]{40,}",
            r"|nfp_[A-Za-z0-9]{36,}|dapi[a-f0-9]{32}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|NRAK-[A-Z0-9]{27}",
            r"|dp\.(?:st|pt|ct|sa)\.[A-Za-z0-9._-]{30,}|pul-[a-f0-9]{40}|sbp_[a-f0-9]{40}|figd_[A-Za-z0-9_-]{36,}",
            r"|ATATT3[A-Za-z0-9_=-]{40,}|tfp_[A-Za-z0-9]{40,}|ya29\.[A-Za-z0-9_-]{30,}|CFPAT-[A-Za-z0-9_-]{40,}",
            r"|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|whsec_[A-Za-z0-9+/]{24,}|ops_eyJ[A-Za-z0-9_-]{30,}",
            r"|hv[sbr]\.[A-Za-z0-9_-]{24,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}|secret_[A-Za-z0-9]{40,}",
            r"|AGE-SECRET-KEY-1[A-Z0-9]{50,}|sk\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33})",
        ),
    ),
    (
        "webhook",
        r"\b(?:hooks\.slack\.com/services/[A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]{16,}|discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{30,})",
    ),
    ("azure-key", r"\b(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{40,}={0,2}"),
    ("url-key", r"://[0-9a-f]{32}@"),
    (
        "authorization",
        r#"(?i)\b(?:authorization["']?[ \t]*[:=][ \t]*["']?(?:bearer|basic|token)[ \t]+)[^\s"',;]{8,}"#,
    ),
    ("aws-secret-key", r#"(?i)\baws_?secret_?access_?key["']?[ \t]*[:=][ \t]*["']?[A-Za-z0-9/+]{30,}"#),
    // The user goes without `/`, the rest up to the last `@` of the authority: passwords contain that sign too.
    ("url-password", r#"://[^\s/:@?#"'<>]*:[^\s/?#"'<>]+@"#),
    ("private-key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^\n]*?-----END [A-Z ]*PRIVATE KEY-----"),
];

/// All shapes in one expression, a group for each; `None` only if an expression above were wrong, which a test
/// rules out.
static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let groups: Vec<String> = SHAPES.iter().map(|(_, shape)| format!("({})", ascii(shape))).collect();
    Regex::new(&groups.join("|")).ok()
});

/// Word boundaries without Unicode tables: they are much faster and tokens are ASCII.
fn ascii(shape: &str) -> String {
    shape.replace(r"\b", r"(?-u:\b)")
}

pub(super) fn suspects(text: &str) -> bool {
    SHAPE.as_ref().is_some_and(|shape| shape.is_match(text)) || text.contains("PRIVATE KEY-----")
}

/// Where tokens are.
pub(super) fn places(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    SHAPE.iter().flat_map(|shape| shape.find_iter(text)).map(|found| found.range())
}

pub(super) fn replace(text: &str) -> Cow<'_, str> {
    let Some(shape) = SHAPE.as_ref() else { return Cow::Borrowed(text) };
    shape.replace_all(text, |found: &Captures<'_>| {
        let matched = found.get(0).map_or("", |found| found.as_str());
        let index = (1..found.len()).find(|index| found.get(*index).is_some()).unwrap_or(1);
        let kind = SHAPES.get(index - 1).map_or("secret", |(kind, _)| *kind);
        let after = |place: Option<usize>| {
            let (kept, _) = matched.split_at(place.map_or(0, |place| place + 1));
            format!("{kept}[redacted:{kind}]")
        };
        match kind {
            // Kebab-case words begin like keys too; keys have digits.
            "api-key" | "pypi-token" if !matched.bytes().any(|byte| byte.is_ascii_digit()) => {
                matched.to_owned()
            }
            "url-key" => format!("://[redacted:{kind}]@"),
            "azure-key" => after(matched.find('=')),
            "authorization" => after(matched.rfind([' ', '\t'])),
            "aws-secret-key" => after(matched.rfind([':', '=', ' ', '\t', '"', '\''])),
            "url-password" => {
                let colon = matched.get(3..).and_then(|rest| rest.find(':')).map(|colon| colon + 3);
                let password = colon.and_then(|colon| matched.get(colon + 1..)).unwrap_or_default();
                // A variable that stands for the password is none, and whoever edits the file needs it.
                if password.starts_with(['$', '{', '%']) {
                    return matched.to_owned();
                }
                after(colon) + "@"
            }
            _ => format!("[redacted:{kind}]"),
        }
    })
}
