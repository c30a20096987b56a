"""Shows Rust's values in gdb as `{:?}` would print them: structures, enums, strings, collections and smart pointers.

gdb knows Rust's enums, and Rust's own printers know its collections, but gdb's protocol shows neither in one text: an
`Option` has an empty value there. What cannot be told is left to gdb. Every walk is bounded.
"""

import gdb
import gdb_lookup

SHOWN = 8
DEPTH = 4
TEXT = 200
OWN_TEXT = ("StdStringProvider", "StdStrProvider", "StdOsStringProvider")


class Unknown(Exception):
    """The debug information does not tell what is there."""


def plain(name):
    """`core::option::Option<alloc::string::String>::Some` is `Some`."""
    kept, depth = [], 0
    for letter in name:
        depth += letter == "<"
        if depth == 0:
            kept.append(letter)
        depth -= letter == ">"
    return "".join(kept).rsplit("::", 1)[-1]


def show(value, depth=DEPTH):
    kind = value.type.strip_typedefs()
    code = kind.code
    if code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
        return show_pointer(value, kind, depth)
    if code == gdb.TYPE_CODE_ARRAY:
        first, last = kind.range()
        return listed([value[at] for at in range(first, min(last, first + SHOWN) + 1)], "[]", last - first + 1, depth)
    if code == gdb.TYPE_CODE_CHAR:
        return quoted(chr(int(value)))
    if code == gdb.TYPE_CODE_FLT:
        text = str(value)
        return text + ".0" if text.lstrip("-").isdigit() else text
    if code == gdb.TYPE_CODE_ENUM:
        return plain(str(value))
    if code == gdb.TYPE_CODE_STRUCT:
        return show_struct(value, kind, depth)
    if code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL):
        return str(value)
    raise Unknown


def part(value, depth):
    """A value inside of another one."""
    try:
        return show(value, depth - 1)
    except Unknown:
        return "…"


def show_pointer(value, kind, depth):
    target = kind.target().strip_typedefs()
    address = "0x%x" % int(value)
    if target.code in (gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_VOID) or int(value) == 0:
        return address
    # gdb does not tell references from raw pointers, which may point to nothing that can be read.
    try:
        return show(value.dereference(), depth)
    except gdb.MemoryError:
        return address


def show_struct(value, kind, depth):
    name = kind.tag or kind.name or ""
    printer = gdb_lookup.printer(value)
    if printer is not None:
        return show_printed(value, name, printer, depth)
    fields = kind.fields()
    names = [field.name for field in fields]
    if names == ["data_ptr", "length"]:
        return show_slice(value, name, depth)
    if "vtable" in names:
        raise Unknown
    if len(names) == 1 and names[0] in ("Ok", "Err", "Some", "None"):
        # One of two variants cannot be there, as in `Result<i32, Infallible>`, and gdb takes the last.
        return "<%s: the debug information does not tell the variant>" % plain(name)
    if None in names or (len(names) == 1 and names[0] and value[fields[0]].type.name == "%s::%s" % (name, names[0])):
        variant = fields[-1]
        if not variant.name:
            raise Unknown
        inner = value[variant]
        return payload(variant.name, inner, inner.type.strip_typedefs().fields(), depth)
    return payload("" if name.startswith("(") else plain(name), value, fields, depth)


def show_slice(value, name, depth):
    length, start = int(value["length"]), value["data_ptr"]
    if "str" in name.replace("struct", ""):
        memory = gdb.selected_inferior().read_memory(int(start), min(length, TEXT))
        return quoted(bytes(memory).decode("utf-8", "replace"), '"')
    return listed([(start + at).dereference() for at in range(min(length, SHOWN))], "[]", length, depth)


def show_printed(value, name, printer, depth):
    kind = type(printer).__name__
    hint = printer.display_hint() if hasattr(printer, "display_hint") else None
    if hint == "string" or kind in OWN_TEXT:
        return value.format_string(max_elements=TEXT)
    if not hasattr(printer, "children"):
        return str(printer.to_string())
    children = []
    for child in printer.children():
        children.append(child[1])
        if len(children) > 2 * SHOWN:
            break
    if any(unsized in name for unsized in ("<str", "<[", "<dyn ")):
        raise Unknown
    if kind in ("StdRcProvider", "StdCellProvider", "StdRefProvider", "StdRefCellProvider"):
        if not children:
            raise Unknown
        inside = show(children[0], depth)
        return inside if kind == "StdRcProvider" else "%s(%s)" % (plain(name), inside)
    count = size_in(str(printer.to_string()), len(children))
    if hint == "map":
        pairs = zip(children[0::2], children[1::2])
        shown = ["%s: %s" % (part(key, depth), part(one, depth)) for key, one in list(pairs)[:SHOWN]]
        return "{%s}" % ", ".join(shown + more(count))
    if "Set" in plain(name):
        return listed(children, "{}", count, depth)
    if hint == "array":
        return listed(children, "[]", count, depth)
    raise Unknown


def size_in(text, otherwise):
    """The number in `Vec(size=3)`."""
    digits = text.partition("size=")[2].partition(")")[0]
    return int(digits) if digits.isdigit() else otherwise


def payload(head, value, fields, depth):
    if not fields:
        return head or "()"
    if depth <= 0:
        return head + "(…)" if head else "(…)"
    if all(field.name and field.name.startswith("__") for field in fields):
        inside = ", ".join(part(value[field], depth) for field in fields)
        return "%s(%s%s)" % (head, inside, "," if not head and len(fields) == 1 else "")
    rows = ["%s: %s" % (field.name, part(value[field], depth)) for field in fields if field.name]
    return "%s { %s }" % (head, ", ".join(rows))


def listed(values, brackets, count, depth):
    if depth <= 0:
        return "%s…%s" % (brackets[0], brackets[1]) if count else brackets
    shown = [part(value, depth) for value in values[:SHOWN]]
    return brackets[0] + ", ".join(shown + more(count)) + brackets[1]


def more(count):
    return ["… %d more" % (count - SHOWN)] if count > SHOWN else []


def quoted(text, mark="'"):
    for letter, escaped in (("\\", "\\\\"), (mark, "\\" + mark), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(letter, escaped)
    return mark + text + mark


class RustValue:
    def __init__(self, value, printer):
        self.value, self.printer = value, printer

    def to_string(self):
        try:
            return show(self.value)
        except (Unknown, gdb.error, gdb.MemoryError, ValueError, OverflowError, RecursionError):
            return self.printer.to_string() if self.printer is not None else None

    def children(self):
        if self.printer is not None:
            yield from self.printer.children() if hasattr(self.printer, "children") else ()
            return
        kind = self.value.type.strip_typedefs()
        fields = kind.fields() if kind.code == gdb.TYPE_CODE_STRUCT else []
        if len(fields) == 1 and fields[0].name in ("Ok", "Err", "Some", "None"):
            return
        for field in fields:
            if field.name and not field.artificial:
                yield field.name, self.value[field]

    def display_hint(self):
        hint = self.printer.display_hint() if hasattr(self.printer, "display_hint") else None
        return hint if hint in ("map", "array") else None


def lookup(value):
    """Only structures, enums and letters of Rust: gdb shows the rest by itself."""
    code = value.type.strip_typedefs().code
    if code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_CHAR):
        return None
    frame = gdb.selected_frame() if gdb.selected_thread() else None
    if frame is None or frame.language() != "rust":
        return None
    printer = gdb_lookup.printer(value) if code == gdb.TYPE_CODE_STRUCT else None
    # Strings are told as they are.
    if type(printer).__name__ in OWN_TEXT:
        return None
    return RustValue(value, printer)


gdb.pretty_printers.insert(0, lookup)
