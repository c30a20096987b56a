//! What the standard library of Rust gives: iterators and their adapters, options and results.

use super::Rust;
use crate::facts::Kind;
use crate::index::FileId;
use crate::resolve::Resolution;
use crate::resolve::expression::closing;
use crate::resolve::type_ref::{TypeRef, has_word, split_top};
use crate::resolve::types::Value;

/// Adapters that give the same things, or some of them, in the same order.
const SAME_ITEMS: &str = "filter skip step_by skip_while take_while inspect fuse chain cycle drain values values_mut \
    into_values rev peekable by_ref filter_map or or_else xor as_slice as_mut_slice to_vec \
    into_boxed_slice lines take replace collect map_err ok iter iter_mut into_iter as_ref as_mut cloned \
    copied as_deref as_deref_mut split_first split_last into_inner into_ok entry drain_filter split_off";
/// What gives one of the things, or the only one.
const ONE_ITEM: &str = "next_back nth find max_by_key min_by_key max_by min_by max min reduce peek peek_mut swap_remove \
    remove unwrap_unchecked or_insert or_insert_with or_default or_insert_with_key get_or_insert_with \
    get_or_insert insert find_map pop_front pop_back front back first_mut last_mut unwrap_or_else index";

/// Members that types of the standard library have.
pub(super) const MEMBERS: &str = "abs all and and_then any append as_bytes as_deref as_mut as_mut_ptr as_mut_slice as_os_str as_path \
    as_ptr as_ref as_slice as_str back back_mut bits borrow borrow_mut bytes by_ref capacity ceil chain \
    char_indices chars checked_add checked_div checked_mul checked_sub chunks chunks_exact chunks_exact_mut \
    chunks_mut clamp clear clone cloned cmp collect concat contains contains_key copied copy_from_slice \
    copy_within count count_ones cycle debug_list debug_map debug_struct debug_tuple dedup default deref \
    deref_mut description display drain drop duration_since elapsed end ends_with entries entry enumerate eq err \
    error expect expect_err extend extend_from_slice extension field file_name file_stem file_type fill filter \
    filter_map find find_map finish first first_mut flat_map flatten flush fmt fold for_each format from \
    from_str from_utf8 front fuse ge get get_mut get_or_insert get_or_insert_with get_unchecked \
    get_unchecked_mut gt hash id index index_mut insert inspect into into_boxed_slice into_inner into_iter \
    into_keys into_owned into_string into_values into_vec is_absolute is_alphabetic is_alphanumeric is_ascii \
    is_char_boundary is_dir is_empty is_err is_file is_match is_negative is_none is_null is_ok is_positive \
    is_some is_symlink iter iter_mut join key keys kind last last_mut le leading_zeros len len_utf8 lines load \
    lock log2 lt make_ascii_lowercase make_ascii_uppercase map map_err map_or map_or_else match_indices matches \
    max max_by max_by_key metadata min min_by min_by_key name ne next next_back next_power_of_two nth ok ok_or \
    ok_or_else or or_default or_else or_insert or_insert_with overflowing_add parent parse partial_cmp partition \
    path peek peek_mut peekable pop pop_back pop_front position pow product ptr push push_back push_front \
    push_str read read_exact read_line read_to_end read_to_string recv rem remove repeat replace reserve resize \
    resize_with rest retain retain_mut rev reverse rfind rotate_left rotate_right round rposition rsplit rsplitn \
    saturating_add saturating_mul saturating_sub scan seek send set set_len shrink_to_fit size_hint skip \
    skip_while slice sort sort_by sort_by_key sort_unstable sort_unstable_by source spawn splice split split_at \
    split_at_mut split_first split_last split_off split_once split_terminator split_whitespace splitn sqrt start \
    starts_with step_by store strip_prefix strip_suffix sum swap swap_remove take take_while then then_some \
    to_ascii_lowercase to_ascii_uppercase to_be_bytes to_bits to_le_bytes to_lowercase to_owned to_path_buf \
    to_str to_string to_string_lossy to_uppercase to_vec trailing_zeros trim trim_end trim_end_matches \
    trim_matches trim_start trim_start_matches truncate try_clone try_fold try_from try_into type_id unwrap \
    unwrap_err unwrap_or unwrap_or_default unwrap_or_else unzip update upgrade value values values_mut wait \
    width windows with with_capacity wrapping_add wrapping_mul wrapping_sub write write_all write_char write_fmt \
    write_str zip";

impl Rust<'_, '_> {
    /// What a method of the library gives that a value of one of its types, or of an iterator, has.
    pub(super) fn rust_library_member(&self, value: &Value, name: &str) -> Option<Value> {
        let Value::Instance { file, offset, text } = value else {
            return default_of(value, name);
        };
        let made = |text: String| Some(Value::Instance { file: *file, offset: *offset, text });
        let of = TypeRef::parse(text);
        let of_name = of.name();
        let is_map = matches!(of_name.as_str(), "HashMap" | "BTreeMap" | "IndexMap");
        let is_cell = has_word("Mutex RwLock RefCell Cell OnceLock OnceCell", &of_name);
        // A pointer stands for what it points to.
        if has_word("Arc Rc Box Pin MutexGuard", &of_name)
            && name != "clone"
            && let Some(inner) = of.element()
        {
            return self.rust_library_member(&made(inner.to_owned())?, name);
        }
        let item = || match self.element(value.clone()) {
            Value::Instance { text, .. } => text,
            _ => "_".to_owned(),
        };
        match name {
            "lock" | "read" | "write" | "try_lock" if is_cell => made(format!("Result<{}>", item())),
            "borrow" | "borrow_mut" | "get_mut" | "into_inner" if is_cell => made(item()),
            "unwrap_err" | "err" | "expect_err" => self.failure(value),
            "enumerate" => made(format!("Iterator<(usize, {})>", item())),
            "char_indices" => made("Iterator<(usize, char)>".to_owned()),
            "zip" => made(format!("Iterator<({}, _)>", item())),
            "windows" | "chunks" | "chunks_exact" => made(format!("Iterator<[{}]>", item())),
            "iter" | "iter_mut" | "into_iter" | "drain" if is_map => {
                made(format!("Iterator<({})>", of.arguments().join(", ")))
            }
            "keys" | "into_keys" if is_map => made(format!("Iterator<{}>", of.arguments().first()?)),
            "flatten" => {
                let inner = self.element(self.element(value.clone()));
                match inner {
                    Value::Instance { text, .. } => made(format!("Iterator<{text}>")),
                    _ => None,
                }
            }
            _ if has_word(SAME_ITEMS, name) => Some(value.clone()),
            _ if has_word(ONE_ITEM, name) => Some(self.element(value.clone())),
            _ => None,
        }
    }

    /// What a result holds that is none.
    fn failure(&self, value: &Value) -> Option<Value> {
        let _deeper = self.enter()?;
        let Value::Instance { file, offset, text } = value else { return None };
        match TypeRef::parse(text).arguments().get(1) {
            Some(of) => Some(Value::Instance { file: *file, offset: *offset, text: (*of).to_owned() }),
            // `type Result<T> = std::result::Result<T, Error>`.
            None => self.failure(&self.behind_alias(*file, *offset, text)?),
        }
    }

    /// The value of a call that wraps another: `Some(value)`, `Arc::new(value)`, `vec![value]`.
    pub(super) fn rust_wrapped(&self, file: FileId, text: &str, offset: u32) -> Option<Value> {
        const WRAPPERS: &[(&str, &str)] = &[
            ("Some(", "Option"),
            ("Ok(", "Result"),
            ("vec![", "Vec"),
            ("Box::new(", ""),
            ("Arc::new(", ""),
            ("Rc::new(", ""),
            ("Pin::new(", ""),
            ("Mutex::new(", "Mutex"),
            ("RwLock::new(", "RwLock"),
            ("RefCell::new(", "RefCell"),
        ];
        let _deeper = self.enter()?;
        let text = text.trim().trim_start_matches('&');
        let find = |text: &str| WRAPPERS.iter().find(|(word, _)| text.starts_with(word));
        let is_in_brackets = text.strip_prefix('(').is_some_and(|inside| find(inside).is_some());
        let (word, wrapper) = if is_in_brackets { &("(", "") } else { find(text)? };
        let open = text.get(word.len() - 1..)?;
        let (inside, rest) = open.split_at(closing(open)?);
        let inside = inside.get(1..inside.len() - 1)?;
        let first = if is_in_brackets { inside } else { split_top(inside, ',').first()?.trim() };
        let wrapped = Self::wrapped(self.value(file, first, offset), wrapper)?;
        Some(self.value_after(wrapped, file, rest, offset))
    }

    fn wrapped(value: Value, wrapper: &str) -> Option<Value> {
        if wrapper.is_empty() {
            return Some(value);
        }
        let (file, offset, text) = match value {
            Value::Instance { file, offset, text } => (file, offset, text),
            Value::Of(types) | Value::Type(types) => {
                let of = types.first()?;
                (of.file, of.definition.span.start, of.definition.name.clone())
            }
            _ => return None,
        };
        Some(Value::Instance { file, offset, text: format!("{wrapper}<{text}>") })
    }

    /// What an iterator of the workspace gives, by what its `next` returns.
    pub(super) fn iterator_item(&self, value: &Value) -> Option<Value> {
        for of in &self.types_of_value(value)? {
            if of.definition.kind == Kind::TypeParameter {
                // `I: Iterator<Item = A>`.
                let bound = of.definition.bases.iter().find(|bound| bound.contains("Item"));
                if let Some(item) = bound.and_then(|bound| TypeRef::parse(bound).element()) {
                    let (offset, text) = (of.definition.span.start, item.to_owned());
                    return Some(Value::Instance { file: of.file, offset, text });
                }
            }
            for name in ["next", "into_iter"] {
                let Resolution::Found(found, _) = self.member_of_types(std::slice::from_ref(of), name) else {
                    continue;
                };
                let next =
                    found.first().filter(|one| one.definition.owner.as_ref() == Some(&of.definition.name))?;
                let given = next.definition.declared.as_str();
                let inside = if name == "next" { TypeRef::parse(given).element()? } else { "Self::Item" };
                let (file, offset) = (next.file, next.definition.span.start);
                let text = match inside.strip_prefix("Self::") {
                    Some(associated) => {
                        self.of_this_impl(file, associated, offset).first()?.definition.declared.clone()
                    }
                    None => inside.to_owned(),
                };
                return Some(self.with_arguments(value, Value::Instance { file, offset, text }));
            }
        }
        None
    }

    /// `value.0`, of a tuple or of a structure or variant that is one.
    pub(super) fn rust_tuple_field(&self, value: &Value, name: &str) -> Option<Value> {
        let place: usize = name.parse().ok()?;
        let types = match value {
            Value::Instance { file, offset, text } => {
                if let Some(value) = tuple_element(value, place) {
                    return Some(value);
                }
                self.made_types(*file, *offset, text)
            }
            Value::Of(types) => types.clone(),
            _ => return None,
        };
        types.iter().find_map(|one| {
            let text = one.definition.declared.clone();
            let whole = Value::Instance { file: one.file, offset: one.definition.span.start, text };
            Some(self.with_arguments(value, tuple_element(&whole, place)?))
        })
    }
}

/// `Type::default()` is a value of the type also where the impl is derived.
fn default_of(value: &Value, name: &str) -> Option<Value> {
    let Value::Type(types) = value else { return None };
    (!types.is_empty() && matches!(name, "default" | "from")).then(|| value.clone())
}

/// A place in a tuple.
pub(super) fn tuple_element(value: &Value, place: usize) -> Option<Value> {
    let Value::Instance { file, offset, text } = value else { return None };
    let part = TypeRef::parse(text).tuple()?.get(place).copied().unwrap_or_default();
    // In a structure it may be for others.
    let part = part.strip_prefix("pub").map_or(part, |rest| match rest.trim_start().strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    let part = part.trim().to_owned();
    Some(if part == "_" {
        Value::Unknown
    } else {
        Value::Instance { file: *file, offset: *offset, text: part }
    })
}
