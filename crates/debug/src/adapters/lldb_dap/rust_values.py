"""Shows Rust's values in LLDB: structures, enums, strings, collections and smart pointers, as `{:?}` would print them.

LLDB has no support for Rust, and cuts the discriminants of variants to 32 bits (up to release 20), so that an `Ok` whose
tag lives in a niche of the other variant is taken for an `Err`. What is read here is checked before it is told; where the
debug information does not decide, that is said. Every walk through memory is bounded: a variable may not be initialised
yet, and then it holds anything.
"""

import re

import lldb

CATEGORY = "stepwell-rust"
SHOWN = 8
LISTED = 10000
TEXT = 200
DEPTH = 3
ROOM = 400
BIT_63 = 1 << 63


class View:
    """What a value looks like: a text, or children in brackets behind a name."""

    def __init__(self, text=None, head="", brackets="{}", children=None, count=0, pairs=False, more=0):
        self.text, self.head, self.brackets = text, head, brackets
        self.children, self.count, self.pairs, self.more = children or [], count, pairs, more

    def child(self, index):
        child = self.children[index]
        return child() if callable(child) else child


def view(value):
    value = value.GetNonSyntheticValue()
    kind = value.GetType().GetCanonicalType().GetTypeClass()
    if kind in (lldb.eTypeClassPointer, lldb.eTypeClassReference):
        return pointer_view(value)
    if kind == lldb.eTypeClassArray:
        return list_view([value.GetChildAtIndex(at) for at in range(min(value.GetNumChildren(), LISTED))])
    if kind == lldb.eTypeClassStruct:
        return structure_view(value)
    if kind == lldb.eTypeClassUnion:
        return View(text="<union>")
    return View(text=scalar(value))


def scalar(value):
    name = value.GetType().GetName()
    if name in ("unsigned char", "signed char", "char"):
        return str(value.GetValueAsSigned() if name in ("char", "signed char") else value.GetValueAsUnsigned())
    if name == "char32_t":
        return rust_char(value.GetValueAsUnsigned())
    if name == "void":
        return "()"
    text = value.GetValue() or "<not readable>"
    return text + ".0" if name in ("float", "double") and re.match(r"-?\d+$", text) else text


def rust_char(code):
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return "<not a character: %#x>" % code
    return "'%s'" % escaped(chr(code), "'")


def escaped(text, quote):
    out = []
    for letter in text:
        if letter in (quote, "\\"):
            out.append("\\" + letter)
        elif letter in "\n\r\t":
            out.append({"\n": "\\n", "\r": "\\r", "\t": "\\t"}[letter])
        elif letter.isprintable():
            out.append(letter)
        else:
            out.append("\\u{%x}" % ord(letter))
    return "".join(out)


def pointer_view(value):
    address = value.GetValueAsUnsigned()
    if address == 0:
        return View(text="null")
    target = value.GetType().GetPointeeType()
    if target.GetByteSize() == 0 or target.GetName() == "unsigned char" or target.IsFunctionType():
        return View(text="%#x" % address)
    if target.GetName() == "char":
        error = lldb.SBError()
        text = value.GetProcess().ReadCStringFromMemory(address, TEXT, error)
        return View(text='"%s"' % escaped(text, '"') if error.Success() else "%#x" % address)
    found = value.Dereference()
    if not readable(found):
        return View(text="%#x (not readable)" % address)
    return view(found)


def readable(value):
    return value.IsValid() and value.GetError().Success() and (
        value.GetByteSize() == 0 or value.GetData().GetByteSize() == value.GetByteSize())


def structure_view(value):
    name = value.GetType().GetName()
    for pattern, special in SPECIAL:
        if pattern.match(name):
            try:
                found = special(value)
            except Unreadable as reason:
                return View(text="<%s>" % reason)
            if found is not None:
                return found
    fields = value.GetType().fields
    if len(fields) == 1 and fields[0].GetName() == "$variants$":
        return enum_view(value)
    return fields_view(value, "" if name.startswith("(") else short(name))


def fields_view(value, head):
    children = [value.GetChildAtIndex(at) for at in range(min(value.GetNumChildren(), LISTED))]
    children = [child for child in children if "PhantomData<" not in child.GetType().GetName()]
    if children and all(re.match(r"__\d+$", child.GetName() or "") for child in children):
        return View(head=head, brackets="()", children=children, count=len(children))
    if not children:
        return View(text=head or "()")
    return View(head=head + " ", brackets="{}", children=children, count=len(children))


def short(name):
    """`shop::cart::Item<alloc::string::String>` is an `Item`."""
    without, depth = [], 0
    for letter in name:
        depth += letter == "<"
        if depth == 0:
            without.append(letter)
        depth -= letter == ">"
    last = "".join(without).split("::")[-1]
    return "{closure}" if last.startswith("{closure") else last


def enum_view(value):
    variant, reason = active_variant(value.GetChildAtIndex(0))
    if variant is None:
        return View(text="<%s>" % reason)
    payload = variant.GetChildMemberWithName("value")
    return fields_view(payload, variant_name(variant))


def variant_name(variant):
    return variant.GetType().GetName().rsplit("::", 1)[-1].removesuffix("$Variant")


def active_variant(union):
    """Returns the variant that is there, or none and the reason."""
    variants = [union.GetChildAtIndex(at) for at in range(union.GetNumChildren())]
    variants = [variant for variant in variants if not never_exists(variant.GetType())]
    numbered, default = {}, None
    for variant in variants:
        number = variant.GetName().removeprefix("$variant$")
        if number == "" and default is not None:
            return None, "a value whose variant the debugger does not tell"
        if number == "":
            default = variant
        elif int(number) in numbered:
            return None, "a value whose variant the debugger does not tell"
        else:
            numbered[int(number)] = variant
    if not numbered:
        return (default, "") if default is not None else (None, "a value of an empty type")
    tagged = next(iter(numbered.values())).GetChildMemberWithName("$discr$")
    size = tagged.GetByteSize()
    if not readable(tagged) or size == 0:
        return (default, "") if size == 0 and default is not None else (None, "not readable")
    tag = int.from_bytes(bytes(tagged.GetData().uint8), "little")
    bits = min(size * 8, 32)
    low = {number & ((1 << bits) - 1): number for number in numbered}
    exact = numbered.get(tag) if tag >= 1 << 32 else None
    if exact is not None:
        return exact, ""
    matching = low.get(tag & ((1 << bits) - 1))
    if matching is None or matching >= 1 << 32:
        return (default, "") if default is not None else (None, "not initialised")
    if default is None:
        return numbered[matching], ""
    if size <= 4:
        return numbered[matching], ""
    base = niche_base(default.GetType(), tagged_offset(numbered))
    if base is None:
        return None, "%s or %s, the debug information does not tell" % (
            variant_name(numbered[matching]), variant_name(default))
    return (numbered[matching] if tag == base + matching else default), ""


def never_exists(kind, depth=0):
    """Whether a type has a field of an enum without variants: `Err(Infallible)`."""
    fields = kind.fields
    if len(fields) == 1 and fields[0].GetName() == "$variants$" and not fields[0].GetType().fields:
        return True
    return depth < 4 and not kind.IsPointerType() and any(
        never_exists(field.GetType(), depth + 1) for field in fields if field.GetName() != "$variants$")


def tagged_offset(numbered):
    fields = next(iter(numbered.values())).GetType().fields
    return next(field.GetOffsetInBytes() for field in fields if field.GetName() == "$discr$")


def niche_base(kind, offset, depth=0):
    """Where the values begin that the field at an offset never has: 0 for pointers, bit 63 for capacities."""
    name = kind.GetName()
    if re.search(r"::(UsizeNoHighBit|Cap)$", name):
        return BIT_63
    if kind.IsPointerType() or re.search(r"::NonZero(Inner)?(<|$|U|Usize)|::Nanoseconds|::NonNull<", name):
        return 0
    if depth > 20:
        return None
    for field in kind.fields:
        start = field.GetOffsetInBytes()
        if field.GetName() != "$discr$" and start <= offset < start + field.GetType().GetByteSize():
            found = niche_base(field.GetType(), offset - start, depth + 1)
            if found is not None:
                return found
    return None


class Unreadable(Exception):
    pass


def member(value, *path):
    for name in path:
        value = value.GetChildMemberWithName(name)
        if not value.IsValid():
            return None
    return value


def descend(value, name, depth=0):
    """Finds the plain value under a name, through the wrappers around it."""
    if depth > 8:
        return None
    if value.GetName() == name and value.GetNumChildren() == 0 or value.TypeIsPointerType():
        return value
    for at in range(min(value.GetNumChildren(), 6)):
        found = descend(value.GetChildAtIndex(at), name, depth + 1)
        if found is not None:
            return found
    return None


def list_view(children, head="", brackets="[]", pairs=False, more=0):
    return View(head=head, brackets=brackets, children=children, count=len(children), pairs=pairs, more=more)


def elements(value, address, kind, length, stride=None):
    """Lazily made children, one for each element in a row."""
    target, size = value.GetTarget(), stride or kind.GetByteSize()
    if length and not address:
        raise Unreadable("not initialised")

    def element(at):
        place = lldb.SBAddress(address + at * size, target)
        return lambda: target.CreateValueFromAddress("[%d]" % at, place, kind)

    return [element(at) for at in range(min(length, LISTED))]


def read(value, address, length):
    if length == 0:
        return b""
    error = lldb.SBError()
    data = value.GetProcess().ReadMemory(address, length, error)
    if not error.Success() or data is None:
        raise Unreadable("not initialised")
    return data


def text_view(value, address, length):
    if length > 1 << 40:
        raise Unreadable("not initialised")
    data = read(value, address, min(length, TEXT))
    cut = data
    if length > TEXT:
        while cut and cut[-1] & 0xC0 == 0x80:
            cut = cut[:-1]
        cut = cut[:-1] if cut and cut[-1] >= 0xC0 else cut
    try:
        text = escaped(cut.decode("utf-8"), '"')
    except UnicodeDecodeError:
        raise Unreadable("not initialised") from None
    left = length - len(cut)
    return View(text='"%s"%s' % (text, "... (%d more bytes)" % left if left else ""))


def vector(value):
    """Returns address, length and capacity of a `Vec`."""
    pointer, length = descend(member(value, "buf"), "pointer"), member(value, "len")
    if pointer is None or length is None:
        return None
    capacity = descend(member(value, "buf", "inner", "cap") or member(value, "buf", "cap"), "__0")
    length = length.GetValueAsUnsigned()
    room = capacity.GetValueAsUnsigned() if capacity is not None else length
    if length > 1 << 40 or (length > room and vec_item(value).GetByteSize()):
        raise Unreadable("not initialised")
    return pointer.GetValueAsUnsigned(), length


def vec_item(value):
    return value.GetType().GetTemplateArgumentType(0)


def vec_view(value):
    found = vector(value)
    if found is None:
        return None
    address, length = found
    return list_view(elements(value, address, vec_item(value), length), more=max(0, length - LISTED))


def string_view(value):
    inner = value
    while inner.IsValid() and not re.match(r"alloc::vec::Vec<", inner.GetType().GetName()):
        inner = inner.GetChildAtIndex(0)
    found = vector(inner) if inner.IsValid() else None
    return text_view(value, *found) if found else None


def slice_view(value):
    pointer, length = member(value, "data_ptr"), member(value, "length")
    if pointer is None or length is None:
        return None
    address, length = pointer.GetValueAsUnsigned(), length.GetValueAsUnsigned()
    name = value.GetType().GetName()
    if re.search(r"(^|[&<: ])(str|Path|OsStr)(\b|>|,|$)", name) and "[" not in name:
        return text_view(value, address, length)
    if length > 1 << 40:
        raise Unreadable("not initialised")
    kind = pointer.GetType().GetPointeeType()
    return list_view(elements(value, address, kind, length), more=max(0, length - LISTED))


def deque_view(value):
    pointer, head, length = descend(member(value, "buf"), "pointer"), member(value, "head"), member(value, "len")
    capacity = descend(member(value, "buf", "inner", "cap") or member(value, "buf", "cap"), "__0")
    if None in (pointer, head, length, capacity):
        return None
    address, kind = pointer.GetValueAsUnsigned(), vec_item(value)
    head, length, room = (part.GetValueAsUnsigned() for part in (head, length, capacity))
    if length > room or (room and head >= room):
        raise Unreadable("not initialised")
    target, size = value.GetTarget(), kind.GetByteSize()

    def element(at):
        place = lldb.SBAddress(address + (head + at) % room * size, target)
        return lambda: target.CreateValueFromAddress("[%d]" % at, place, kind)

    return list_view([element(at) for at in range(min(length, LISTED))], more=max(0, length - LISTED))


def hash_view(value):
    table = value
    for _ in range(4):
        if table is None or table.GetType().GetName().startswith("hashbrown::raw::RawTable<"):
            break
        table = next((found for name in ("base", "map", "table") if (found := member(table, name))), None)
    if table is None:
        return None
    inner, kind = member(table, "table"), table.GetType().GetTemplateArgumentType(0)
    if inner is None or not kind.IsValid():
        return None
    mask = member(inner, "bucket_mask").GetValueAsUnsigned()
    control = descend(member(inner, "ctrl"), "pointer").GetValueAsUnsigned()
    items = member(inner, "items").GetValueAsUnsigned()
    if mask & (mask + 1) or items > mask + 1 or mask >= 1 << 32:
        raise Unreadable("not initialised")
    used = []
    if items:
        states = read(value, control, min(mask + 1, 1 << 20))
        used = [at for at, state in enumerate(states) if state < 0x80][: min(items, LISTED)]
    target, size = value.GetTarget(), kind.GetByteSize()
    is_set = "HashSet<" in value.GetType().GetName()

    def entry(at, bucket):
        def make():
            place = lldb.SBAddress(control - (bucket + 1) * size, target)
            found = target.CreateValueFromAddress("[%d]" % at, place, kind)
            return target.CreateValueFromAddress("[%d]" % at, place, found.GetChildAtIndex(0).GetType()) if is_set else found
        return make

    children = [entry(at, bucket) for at, bucket in enumerate(used)]
    return list_view(children, "", "{}", pairs=not is_set, more=items - len(used))


def tree_view(value):
    """A `BTreeMap` or `BTreeSet`: nodes of up to eleven keys, walked in order."""
    is_set = "BTreeSet<" in value.GetType().GetName()
    tree = member(value, "map") if is_set else value
    length = member(tree, "length") if tree is not None else None
    if length is None:
        return None
    length = length.GetValueAsUnsigned()
    if length == 0:
        return list_view([], "", "{}")
    root, _ = active_variant(member(tree, "root").GetChildAtIndex(0))
    root = member(root, "value", "__0") if root is not None else None
    if root is None:
        raise Unreadable("not initialised")
    height = member(root, "height").GetValueAsUnsigned()
    pointer = descend(member(root, "node"), "pointer")
    leaf = pointer.GetType().GetPointeeType() if pointer is not None else None
    if leaf is None or height > 30 or length > 1 << 40:
        raise Unreadable("not initialised")
    if not leaf.GetName().split("<")[0].endswith("LeafNode"):
        return View(text="<%d entries>" % length)
    target = value.GetTarget()
    offsets = {field.GetName(): field for field in leaf.fields}
    entries = []

    def slots(node, name):
        field = offsets[name]
        kind = field.GetType().GetArrayElementType()
        inner = kind.GetTemplateArgumentType(0)
        kind = inner if inner.IsValid() else kind
        return node + field.GetOffsetInBytes(), kind

    def walk(node, height):
        if len(entries) >= min(length, LISTED):
            return
        used = int.from_bytes(read(value, node + offsets["len"].GetOffsetInBytes(), 2), "little")
        if used > 11:
            raise Unreadable("not initialised")
        edges = read(value, node + leaf.GetByteSize(), 8 * (used + 1)) if height else b""
        for at in range(used + 1):
            if height:
                walk(int.from_bytes(edges[8 * at : 8 * at + 8], "little"), height - 1)
            if at < used and len(entries) < min(length, LISTED):
                entries.append((node, at))

    walk(pointer.GetValueAsUnsigned(), height)

    def part(node, at, name, label):
        start, kind = slots(node, name)
        return target.CreateValueFromAddress(label, lldb.SBAddress(start + at * kind.GetByteSize(), target), kind)

    children = []
    for count, (node, at) in enumerate(entries):
        if is_set:
            children.append(lambda node=node, at=at, count=count: part(node, at, "keys", "[%d]" % count))
        else:
            children.append(lambda node=node, at=at: pair(part(node, at, "keys", "key"), part(node, at, "vals", "value")))
    return list_view(children, "", "{}", pairs=not is_set, more=length - len(entries))


class Pair:
    """A key and its value that do not lie beside each other."""

    def __init__(self, key, value):
        self.key, self.value = key, value


def pair(key, value):
    return Pair(key, value.Clone("[%s]" % inner_text(key, 1, TEXT)))


def counted_view(value):
    """`Rc`, `Arc`: what is behind the counts."""
    if (found := slice_of_counted(value)) is not None:
        return found
    pointer = descend(member(value, "ptr"), "pointer")
    if pointer is None or pointer.GetValueAsUnsigned() in (0, (1 << 64) - 1):
        return None
    inner = pointer.Dereference()
    for name in ("value", "data"):
        if (found := member(inner, name)) is not None and readable(found):
            return view(found)
    raise Unreadable("not initialised")


def slice_of_counted(value):
    """`Rc<str>`, `Arc<[T]>`: the elements lie behind the counts too."""
    fat = member(value, "ptr", "pointer")
    start, length = (member(fat, "data_ptr"), member(fat, "length")) if fat is not None else (None, None)
    if start is None or length is None:
        return None
    counted = start.GetType().GetPointeeType()
    held = next((field for field in counted.fields if field.GetName() in ("value", "data")), None)
    if held is None:
        return None
    address, length = start.GetValueAsUnsigned() + held.GetOffsetInBytes(), length.GetValueAsUnsigned()
    if "Inner<str>" in fat.GetType().GetName():
        return text_view(value, address, length)
    return list_view(elements(value, address, held.GetType(), length), more=max(0, length - LISTED))


def weak_view(_value):
    return View(text="(Weak)")


def duration_view(value):
    seconds, parts = member(value, "secs"), descend(member(value, "nanos"), "__0")
    if seconds is None or parts is None or parts.GetValueAsUnsigned() >= 10**9:
        raise Unreadable("not initialised")
    text = "%d.%09d" % (seconds.GetValueAsUnsigned(), parts.GetValueAsUnsigned())
    return View(text=text.rstrip("0").rstrip(".") + "s")


def cell_view(value):
    for path in (("value", "value"), ("data", "value"), ("value",), ("data",)):
        if (found := member(value, *path)) is not None:
            child = found
            return View(head=short(value.GetType().GetName()), brackets="()", children=[child], count=1)
    return None


def wrapped_view(value):
    """`NonNull`, `Unique`, `Box`, `NonZero`, `ManuallyDrop`, guards: what is inside."""
    children = [value.GetChildAtIndex(at) for at in range(value.GetNumChildren())]
    inner = [child for child in children if child.GetType().GetByteSize()]
    return view(inner[0]) if len(inner) == 1 else None


def iterator_view(value):
    """An iterator over a slice: what is still to come."""
    first, last = descend(member(value, "ptr"), "pointer"), member(value, "end_or_len")
    if first is None or last is None:
        return None
    kind = first.GetType().GetPointeeType()
    start, end, size = first.GetValueAsUnsigned(), last.GetValueAsUnsigned(), kind.GetByteSize()
    if not size or end < start or (end - start) % size:
        raise Unreadable("not initialised")
    return list_view(elements(value, start, kind, (end - start) // size), head="Iter")


def trait_view(value):
    pointer, table = member(value, "pointer"), member(value, "vtable")
    if pointer is None or table is None:
        return None
    described = short_trait(value.GetType().GetName())
    target = value.GetTarget()
    words = read(value, table.GetValueAsUnsigned(), 32)
    word = lambda at: int.from_bytes(words[at : at + 8], "little")
    for at, pattern in ((0, r"drop_in_place<(.+)>(?:::h[0-9a-f]+)?$"), (24, r"^<(.+?) as ")):
        symbol = target.ResolveLoadAddress(word(at)).GetSymbol().GetName() if word(at) else None
        found = re.search(pattern, demangled(symbol or ""))
        kind = target.FindFirstType(found.group(1)) if found else None
        # The table tells the size too: a name that several types have must not pick the wrong one.
        if kind is not None and kind.IsValid() and kind.GetByteSize() == word(8):
            place = lldb.SBAddress(pointer.GetValueAsUnsigned(), target)
            inner = target.CreateValueFromAddress(value.GetName() or "value", place, kind)
            return view(inner) if readable(inner) else None
    return View(text="<%s>" % described)


def demangled(symbol):
    """Rust's older names are not taken apart whole by LLDB."""
    for coded, letter in (("$LT$", "<"), ("$GT$", ">"), ("$u20$", " "), ("$RF$", "&"), ("$C$", ","), ("..", "::")):
        symbol = symbol.replace(coded, letter)
    return symbol.removeprefix("_")


def short_trait(name):
    found = re.search(r"dyn (?:\w+::)*(\w+)", name)
    return "dyn " + found.group(1) if found else short(name)


SPECIAL = [
    (re.compile(r"alloc::string::String$"), string_view),
    (re.compile(r"std::path::PathBuf$|std::ffi::os_str::OsString$"), string_view),
    (re.compile(r"alloc::vec::Vec<"), vec_view),
    (re.compile(r"alloc::collections::vec_deque::VecDeque<"), deque_view),
    (re.compile(r"(std::collections::hash::(map::HashMap|set::HashSet)|hashbrown::(map::HashMap|set::HashSet))<"), hash_view),
    (re.compile(r"alloc::collections::btree::(map::BTreeMap|set::BTreeSet)<"), tree_view),
    (re.compile(r"alloc::(rc::Rc|sync::Arc)<"), counted_view),
    (re.compile(r"alloc::(rc|sync)::Weak<"), weak_view),
    (re.compile(r"core::time::Duration$"), duration_view),
    (re.compile(r"core::cell::(Cell|RefCell|OnceCell)<|std::sync::(poison::)?(mutex::Mutex|rwlock::RwLock)<"), cell_view),
    (re.compile(r"core::(cell::UnsafeCell|ptr::non_null::NonNull|ptr::unique::Unique|num::nonzero::NonZero|mem::manually_drop::ManuallyDrop|mem::maybe_dangling::MaybeDangling|pin::Pin)<"), wrapped_view),
    (re.compile(r"core::num::niche_types::"), wrapped_view),
    (re.compile(r"core::slice::iter::Iter(Mut)?<"), iterator_view),
    (re.compile(r".*"), slice_view),
    (re.compile(r".*"), trait_view),
]


def shown(view, depth, room):
    """Writes a view in one line, within a depth and a length."""
    if view.text is not None:
        return view.text
    opening, closing = view.brackets
    if view.count and (depth == 0 or room <= 0):
        length = "" if opening != "[" and not view.pairs else "%d" % (view.count + view.more)
        return "%s%s…%s%s" % (view.head, opening, length, closing)
    parts, used = [], 0
    for at in range(min(view.count, SHOWN)):
        child = view.child(at)
        part = labelled(view, child, depth, room - used)
        parts.append(part)
        used += len(part)
    left = view.count + view.more - len(parts)
    if left:
        parts.append("… %d more" % left)
    inside = ", ".join(parts)
    return "%s%s%s%s" % (view.head, opening, " %s " % inside if view.head and opening == "{" else inside, closing)


def labelled(parent, child, depth, room):
    if isinstance(child, Pair):
        return "%s: %s" % (inner_text(child.key, depth, room), inner_text(child.value, depth, room))
    if parent.pairs:
        pair = child.GetNonSyntheticValue()
        return "%s: %s" % (inner_text(pair.GetChildAtIndex(0), depth, room), inner_text(pair.GetChildAtIndex(1), depth, room))
    text = inner_text(child, depth, room)
    return "%s: %s" % (child.GetName(), text) if parent.brackets == "{}" and parent.head else text


def inner_text(value, depth, room):
    return shown(view(value), depth - 1, room)


def summary(value, _internal):
    try:
        raw = value.GetNonSyntheticValue()
        found = view(raw)
        kind = raw.GetType().GetCanonicalType().GetTypeClass()
        plain = kind in (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration)
        if plain and raw.GetType().GetName() != "char32_t":
            return ""
        return shown(found, DEPTH, ROOM)
    except Exception as error:
        return "<not readable: %s>" % error


class Children:
    """The children of a value, as LLDB asks for them."""

    def __init__(self, value, _internal):
        self.value = value
        self.update()

    def update(self):
        try:
            self.view = view(self.value)
        except Exception:
            self.view = View(text="")
        return False

    def num_children(self, limit=LISTED):
        return min(self.view.count, limit)

    def has_children(self):
        return self.view.count > 0

    def get_child_index(self, name):
        for at in range(min(self.view.count, 1000)):
            child = self.view.child(at)
            if not isinstance(child, Pair) and plain_name(child) == name:
                return at
        return -1

    def get_child_at_index(self, index):
        if not 0 <= index < self.view.count:
            return None
        child = self.view.child(index)
        if isinstance(child, Pair):
            return child.value
        name = plain_name(child)
        return child.Clone(name) if name != child.GetName() else child


def plain_name(value):
    name = value.GetName() or ""
    return name[2:] if re.match(r"__\d+$", name) else name


def __lldb_init_module(debugger, _internal):
    for command in (
        "type summary add -w %s -x '.*' -e -F %s.summary" % (CATEGORY, __name__),
        "type synthetic add -w %s -x '.*' -l %s.Children" % (CATEGORY, __name__),
        # LLDB shows bytes as characters.
        "type format add -w %s -f u 'unsigned char'" % CATEGORY,
        "type format add -w %s -f d 'signed char' char" % CATEGORY,
        "type category enable %s" % CATEGORY,
    ):
        debugger.HandleCommand(command)
