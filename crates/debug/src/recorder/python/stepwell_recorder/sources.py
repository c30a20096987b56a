"""Which files are the program's own, and which names a statement reads."""

import os
import sys

_libraries = None
_known = {}


def is_library(filename):
    """Whether a file belongs to Python, to an installed package or to nothing on disk."""
    known = _known.get(filename)
    if known is None:
        known = _known[filename] = _is_library(filename)
    return known


def _is_library(filename):
    if filename.startswith("<") or not filename:
        return True
    path = os.path.abspath(filename)
    if "/site-packages/" in path or "/dist-packages/" in path:
        return True
    global _libraries
    if _libraries is None:
        _libraries = _library_folders()
    return path.startswith(_libraries)


def _library_folders():
    folders = {os.path.dirname(os.path.abspath(os.__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
    for prefix in (sys.base_prefix, sys.prefix):
        folders.add(os.path.join(prefix, "lib", "python%d.%d" % sys.version_info[:2]))
        folders.add(os.path.join(prefix, "bin"))
    return tuple(folder + os.sep for folder in folders)


_statements = {}


def paths_at(filename, line):
    """Returns the variables, attributes and items that the statement at a line reads, in order of their appearance.

    Each is a list: a name, then `.attribute` or `[key]` steps with keys as `("name", n)` or `("value", v)`.
    """
    statement = _statement_at(filename, line)
    if statement is None:
        return []
    import ast

    paths = []

    def add(path):
        if path not in paths:
            paths.append(path)

    def visit(node):
        path = _path(node)
        if path is not None:
            for end in range(1, len(path) + 1):
                add(path[:end])
            if isinstance(node, ast.Subscript):
                visit(node.slice)
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            # Of a method call the object matters, not the method.
            visit(node.func.value)
            for child in list(node.args) + list(node.keywords):
                visit(child)
            return
        for child in ast.iter_child_nodes(node):
            visit(child)

    for part in _read_parts(statement):
        visit(part)
    return paths


def _statement_at(filename, line):
    statements = _statements.get(filename)
    if statements is None:
        statements = _statements[filename] = _statements_of(filename)
    return statements.get(line)


def _statements_of(filename):
    """Returns the innermost statement of every line."""
    import ast

    try:
        with open(filename, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return {}
    found = {}
    # Outer statements come before inner ones, which then take their lines.
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            for line in range(node.lineno, (getattr(node, "end_lineno", None) or node.lineno) + 1):
                known = found.get(line)
                if known is None or node.lineno >= known.lineno:
                    found[line] = node
    return found


def _read_parts(statement):
    """Returns the expressions of a statement; of one with a body those of its head alone."""
    import ast

    bodies = ("body", "orelse", "finalbody", "handlers", "decorator_list", "cases")
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    parts = []
    for name, field in ast.iter_fields(statement):
        if name in bodies:
            continue
        for node in field if isinstance(field, list) else [field]:
            if isinstance(node, ast.AST):
                parts.append(node)
    return parts


def _path(node):
    import ast

    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        base = _path(node.value)
        return base + ["." + node.attr] if base else None
    if isinstance(node, ast.Subscript):
        base = _path(node.value)
        key = getattr(node.slice, "value", node.slice) if type(node.slice).__name__ == "Index" else node.slice
        if base and isinstance(key, ast.Name):
            return base + [("name", key.id)]
        if base and isinstance(key, ast.Constant) and isinstance(key.value, (int, str)):
            return base + [("value", key.value)]
    return None


def shown(path):
    text = ""
    for step in path:
        if isinstance(step, tuple):
            text += "[%s]" % (step[1] if step[0] == "name" else repr(step[1]))
        else:
            text += step
    return text


_MISSING = object()


def value_at(path, variables, global_variables):
    """Looks a path up without running code of the program: no properties, no `__getattr__`, no `__getitem__`."""
    value = _named(path[0], variables, global_variables)
    for step in path[1:]:
        if value is _MISSING:
            return value
        if isinstance(step, tuple):
            key = step[1] if step[0] == "value" else _named(step[1], variables, global_variables)
            value = _item(value, key)
        else:
            fields = _fields(value)
            value = fields.get(step[1:], _MISSING)
    return value


def is_missing(value):
    return value is _MISSING


def _named(name, variables, global_variables):
    return variables[name] if name in variables else global_variables.get(name, _MISSING)


def _item(value, key):
    if type(value) in (list, tuple, str) and type(key) is int and -len(value) <= key < len(value):
        return value[key]
    if type(value) is dict and type(key) in (str, int, bool, float, bytes, tuple):
        try:
            return value.get(key, _MISSING)
        except Exception:
            return _MISSING
    return _MISSING


def _fields(value):
    try:
        fields = object.__getattribute__(value, "__dict__")
        return fields if type(fields) is dict else {}
    except Exception:
        return {}
