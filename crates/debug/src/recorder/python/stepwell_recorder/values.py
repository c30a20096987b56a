"""Short texts of values."""

import sys

LENGTH = 160
ITEMS = 8
# Values that never change, so that a reference to one is as good as its text.
SIMPLE = frozenset([int, float, complex, bool, str, bytes, type(None)])
CONTAINERS = frozenset([list, tuple, dict, set, frozenset, bytearray])


def quick(value, depth=2):
    """Returns the text of a built-in value, or None: code of the program is never called."""
    kind = type(value)
    if kind in SIMPLE:
        return _simple(value, kind)
    if kind in CONTAINERS:
        return _container(value, kind, depth, quick)
    if kind.__name__ == "deque" and kind.__module__ == "collections":
        return "deque(%s)" % _container(list(value), list, depth, quick)
    return None


def short(value, depth=2):
    """Returns the text of any value. Where a class has its own `__repr__`, that is called."""
    kind = type(value)
    if kind in SIMPLE:
        return _simple(value, kind)
    if kind in CONTAINERS:
        return _container(value, kind, depth, short)
    if isinstance(value, type):
        return "<class %s>" % value.__qualname__
    if isinstance(value, BaseException):
        return _cut("%s(%s)" % (kind.__name__, ", ".join(short(arg, 0) for arg in value.args[:3])))
    if kind.__repr__ is object.__repr__:
        return _fields(value, kind, depth)
    try:
        text = repr(value)
        return _cut(text if isinstance(text, str) else "<%s>" % kind.__name__)
    except BaseException as error:
        return "<%s: its __repr__ raised %s>" % (kind.__name__, type(error).__name__)


def _simple(value, kind):
    if kind is int and value.bit_length() > 4 * LENGTH:
        return "<int of %d bits>" % value.bit_length()
    if kind in (str, bytes) and len(value) > LENGTH:
        unit = "characters" if kind is str else "bytes"
        return "%r… (%d %s)" % (value[:LENGTH], len(value), unit)
    return repr(value)


def _container(value, kind, depth, text):
    if kind is bytearray:
        return "bytearray(%s)" % _simple(bytes(value[: LENGTH + 1]), bytes)
    if depth <= 0 and value:
        return "<%s of %d>" % (kind.__name__, len(value))
    parts = []
    try:
        for count, item in enumerate(value.items() if kind is dict else value):
            if count == ITEMS:
                parts.append("… %d more" % (len(value) - ITEMS))
                break
            if kind is dict:
                parts.append("%s: %s" % (_item(item[0], depth, text), _item(item[1], depth, text)))
            else:
                parts.append(_item(item, depth, text))
    except RecursionError:
        raise
    except RuntimeError:  # Another thread changes it.
        return "<%s of %d>" % (kind.__name__, len(value))
    inside = ", ".join(parts)
    if kind is list:
        return _cut("[%s]" % inside)
    if kind is tuple:
        return _cut("(%s,)" % inside if len(value) == 1 else "(%s)" % inside)
    if kind is dict or (kind is set and value):
        return _cut("{%s}" % inside)
    return _cut("%s(%s)" % (kind.__name__, inside and "{%s}" % inside))


def _item(value, depth, text):
    return text(value, depth - 1) or "<%s>" % type(value).__name__


def still(value):
    """Returns the text of a value whose contents can change, or None: code of the program is never called."""
    kind = type(value)
    if kind in SIMPLE or isinstance(value, type) or kind.__name__ in _MACHINERY:
        return None
    text = quick(value)
    if text is None:
        text = _fields(value, kind, 2, lambda field, depth: quick(field, depth) or "<%s>" % type(field).__qualname__)
    return text if text != "<%s>" % kind.__qualname__ else None


def _slots(value, kind):
    """Returns the fields that a class keeps in slots."""
    fields = {}
    for base in reversed(kind.__mro__):
        names = base.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else tuple(names):
            slot = base.__dict__.get(name)
            if type(slot).__name__ == "member_descriptor":
                try:
                    fields[name] = slot.__get__(value, kind)
                except AttributeError:
                    pass
    return fields


def _fields(value, kind, depth, text=None):
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    fields = dict(_slots(value, kind), **own) if type(own) is dict else {}
    if not fields or depth <= 0:
        return "<%s>" % kind.__qualname__
    parts = ["%s=%s" % (name, (text or short)(field, depth - 1)) for name, field in list(fields.items())[:ITEMS]]
    if len(fields) > ITEMS:
        parts.append("…")
    return _cut("%s(%s)" % (kind.__qualname__, ", ".join(parts)))


def _cut(text):
    return text if len(text) <= LENGTH else "%s… (%d characters)" % (text[:LENGTH], len(text))


def is_state(name, value):
    """Whether a variable is worth showing: not a module, function, class or name of the machinery."""
    if name.startswith(("__", "@")) or name.startswith("."):
        return False
    kind = type(value)
    if isinstance(value, type) or kind.__name__ in _MACHINERY:
        return False
    return not (kind.__module__ == "typing" or kind.__module__.startswith("_pytest"))


_MACHINERY = frozenset(
    ["module", "function", "builtin_function_or_method", "method", "wrapper_descriptor", "_lru_cache_wrapper", "_Feature", "getset_descriptor"]
)


def message_of(error):
    try:
        return str(error)[:2000]
    except BaseException:
        return ""


def name_of(kind):
    module = getattr(kind, "__module__", "")
    name = getattr(kind, "__qualname__", str(kind))
    return name if module in ("builtins", "__main__", "") else "%s.%s" % (module, name)


def qualified(code):
    name = getattr(code, "co_qualname", code.co_name)
    return name.replace("<locals>.", "") if sys.version_info >= (3, 11) else name
