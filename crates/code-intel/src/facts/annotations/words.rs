//! The words of C and C++, and those that are macros.

/// Words that begin or go on with a declaration and are no name of anything.
pub(super) const SPECIFIERS: &[&str] = &[
    "static",
    "inline",
    "extern",
    "virtual",
    "constexpr",
    "consteval",
    "explicit",
    "friend",
    "mutable",
    "typedef",
    "const",
    "volatile",
    "thread_local",
    "register",
];

pub(super) const TYPES: &[&str] = &[
    "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto",
    "decltype", "typename", "size_t", "wchar_t",
];

pub(super) const OTHERS: &[&str] = &[
    "class",
    "struct",
    "union",
    "enum",
    "namespace",
    "template",
    "using",
    "operator",
    "public",
    "private",
    "protected",
    "override",
    "final",
    "noexcept",
    "return",
    "requires",
    "concept",
    "default",
    "delete",
];

/// What stands behind the parameters of a function.
pub(super) const BEHIND: &[&str] = &["const", "volatile", "override", "final", "noexcept"];

/// What says how a type lies in memory, where a type without a name may begin; other such words name types.
pub(super) const LAYOUTS: &[&str] = &["__packed", "__randomize_layout", "____cacheline_aligned"];

pub(super) fn is_keyword(word: &str) -> bool {
    SPECIFIERS.contains(&word) || TYPES.contains(&word) || OTHERS.contains(&word)
}

/// Whether a word looks like a macro: upper case, or reserved for the implementation.
pub(super) fn is_macro(word: &str) -> bool {
    const KNOWN: &[&str] = &[
        "__attribute__",
        "__attribute",
        "__declspec",
        "__extension__",
        "__asm__",
        "__asm",
        "__typeof__",
        "__inline",
        "__inline__",
        "__restrict",
        "__restrict__",
        "__const",
        "__volatile__",
        "__based",
        "__cdecl",
        "__stdcall",
        "__fastcall",
        "__thiscall",
        "__vectorcall",
        "__clrcall",
        "__unaligned",
        "__alignof__",
        "__except",
        "__finally",
        "__leave",
        "__try",
        "__thread",
        "__forceinline",
    ];
    let is_upper = word.len() >= 3
        && word.bytes().any(|byte| byte.is_ascii_uppercase())
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let is_reserved = word.starts_with("__")
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !KNOWN.contains(&word)
        && !word.ends_with("_t")
        && !word.starts_with("__int")
        && !word.starts_with("__builtin");
    is_upper || is_reserved
}
