"""Makes records of failures: the exception, its frames, the values of the failing statement and how they were set."""

import os
import sys

from stepwell_recorder import records, sources, tracer
from stepwell_recorder.values import is_state, message_of, name_of, qualified, short, still

FRAMES = 12
VARIABLES = 24
VALUES = 10
CAUSES = 4

_recorded = set()


def record(error, how, test=None, phase=None, traceback=None):
    """Records an exception once, however many hooks see it."""
    key = (os.getpid(), id(error), test)
    if key in _recorded:
        return
    _recorded.add(key)
    with tracer.paused():
        try:
            limit = sys.getrecursionlimit()
            sys.setrecursionlimit(limit + 200)
            _record(error, how, test, phase, traceback)
        except Exception as failure:
            if os.environ.get("STEPWELL_RECORD_DEBUG"):
                raise
            records.write({"event": "problem", "message": "%s: %s" % (type(failure).__name__, failure)})
        finally:
            sys.setrecursionlimit(limit)


def record_exit(error, frame):
    with tracer.paused():
        stack = [(frame, frame.f_lineno)]
        while frame.f_back is not None:
            frame = frame.f_back
            stack.append((frame, frame.f_lineno))
        records.write(
            {
                "event": "exit",
                "code": error.code if isinstance(error.code, int) else 1,
                "message": "" if isinstance(error.code, int) else short(error.code),
                "frames": _frames(stack),
                "handled": list(tracer.handled),
            }
        )


def record_hang(frames):
    with tracer.paused():
        for frame in frames:
            stack = []
            while frame is not None:
                stack.append((frame, frame.f_lineno))
                frame = frame.f_back
            records.write({"event": "hang", "frames": _frames(stack)})


def _record(error, how, test, phase, traceback):
    stack = _stack(error, traceback)
    record = {
        "event": "failure",
        "how": how,
        "test": test,
        "phase": phase,
        "type": name_of(type(error)),
        "message": message_of(error),
        "frames": _frames(stack),
        "library_frames": sum(1 for frame, _ in stack if sources.is_library(frame.f_code.co_filename)),
        "causes": _causes(error),
        "exhausted": tracer.exhausted,
    }
    if isinstance(error, SyntaxError) and error.filename:
        place = {"function": "<module>", "file": os.path.abspath(error.filename), "line": error.lineno or 1}
        record["frames"].insert(0, dict(place, library=False, variables=[], values=[]))
    if isinstance(error, RecursionError):
        record["recursion"] = _recursion(stack)
    records.write(record)


def _stack(error, traceback=None):
    """Returns the frames of the traceback, innermost first, each with the line that failed."""
    traceback = traceback or error.__traceback__
    stack = []
    while traceback is not None:
        stack.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    hidden = "__tracebackhide__"
    stack = [(frame, line) for frame, line in stack if not frame.f_locals.get(hidden) is True]
    return stack[::-1]


def _frames(stack):
    own = [(frame, line) for frame, line in stack if not sources.is_library(frame.f_code.co_filename)]
    chosen = (own or stack)[:FRAMES]
    made = []
    for at, (frame, line) in enumerate(chosen):
        caller = chosen[at + 1][0] if at + 1 < len(chosen) else None
        made.append(_frame(frame, line, caller, at < 3))
    return made


def _frame(frame, line, caller, with_values):
    state = tracer.state_of(frame)
    variables, writes, stills = dict(frame.f_locals), {}, {}
    if state is not None:
        variables, writes = state.kept.get(line, (variables, state.writes))
        stills = state.stills.get(line, stills)
    code = frame.f_code
    shown = [(name, value) for name, value in variables.items() if is_state(name, value)]
    made = {
        "function": qualified(code),
        "file": os.path.abspath(code.co_filename),
        "line": line,
        "first_line": code.co_firstlineno,
        "library": sources.is_library(code.co_filename),
        "variables": [[name, _text(value, stills), type(value).__name__] for name, value in shown[:VARIABLES]],
        "values": [],
    }
    if with_values:
        made["values"] = _values(frame, line, variables, writes, state, caller, stills)
    return made


def _text(value, stills):
    """Returns the text of a value as it was when the exception was raised: handlers may have changed its contents."""
    before = stills.get(id(value))
    return before if before is not None and before != still(value) else short(value)


def _values(frame, line, variables, writes, state, caller, stills):
    rows = []
    for path in sources.paths_at(frame.f_code.co_filename, line):
        value = sources.value_at(path, variables, frame.f_globals)
        if sources.is_missing(value) or not is_state(path[0], value):
            continue
        row = {"name": sources.shown(path), "value": _text(value, stills), "type": type(value).__name__, "writes": []}
        history = _history(path, frame, variables, writes)
        if history:
            row["writes"], row["changed_since"] = _told(history, value, stills)
        elif len(path) == 1 and state is not None and _is_parameter(frame.f_code, path[0]):
            row["passed"] = caller is not None and frame.f_back is caller
        rows.append(row)
        if len(rows) == VALUES:
            break
    return rows


def _history(path, frame, variables, writes):
    if len(path) == 1:
        if path[0] in variables and frame.f_code.co_name != "<module>":
            return writes.get(path[0])
        return tracer.writes_of_global(frame, path[0])
    if isinstance(path[-1], str):
        owner = sources.value_at(path[:-1], variables, frame.f_globals)
        return tracer.writes_of_attribute(owner, path[-1][1:])
    return None


def _told(history, value, stills):
    """Returns the writes, newest first, unless something unseen wrote after them."""
    newest = history[-1]
    if newest.is_of(value) or newest.is_same(value) and newest.text() == stills.get(id(value), ""):
        changed = False
    elif newest.is_same(value):
        changed = True
    else:
        return [], False
    told = []
    for write in list(history)[::-1]:
        told.append(
            {
                "file": os.path.abspath(write.file),
                "line": write.line,
                "function": qualified(write.function),
                "value": write.text(),
                "changes": write.changes,
                "inputs": [[name, short(given)] for name, given in write.inputs],
            }
        )
    return told, changed


def _is_parameter(code, name):
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return name in code.co_varnames[:count]


def _causes(error):
    causes = []
    for inner in getattr(error, "exceptions", ()) if _is_group(error) else ():
        causes.append(_cause(inner, "part"))
    seen = {id(error)}
    while len(causes) < CAUSES:
        how = "cause" if error.__cause__ is not None else "while handling"
        inner = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if inner is None or id(inner) in seen:
            break
        seen.add(id(inner))
        causes.append(_cause(inner, how))
        error = inner
    return causes[:CAUSES]


def _is_group(error):
    return any(kind.__name__ == "BaseExceptionGroup" for kind in type(error).__mro__)


def _cause(error, how):
    frames = _frames(_stack(error))
    return {
        "how": how,
        "type": name_of(type(error)),
        "message": message_of(error)[:500],
        "frame": frames[0] if frames else None,
    }


def _recursion(stack):
    """Returns the cycle of calls, how deep it was, and how its arguments grew."""
    calls = [(frame.f_code, line) for frame, line in stack]
    for start in range(min(40, len(calls))):
        for period in range(1, min(12, (len(calls) - start) // 3)):
            if all(calls[start + at] == calls[start + at + period] for at in range(period * 2)):
                return _cycle(stack, calls, start, period)
    return None


def _cycle(stack, calls, start, period):
    end = start + period
    while end < len(calls) and calls[end] == calls[end - period]:
        end += 1
    turns = list(range(start, end, period))
    steps = []
    for at in range(period):
        frame, line = stack[start + at]
        code = frame.f_code
        rows = []
        for name in code.co_varnames[: code.co_argcount]:
            values = [short(stack[turn + at][0].f_locals.get(name)) for turn in turns[-3:] if turn + at < end]
            last = [short(stack[turn + at][0].f_locals.get(name)) for turn in turns[:2] if turn + at < end]
            rows.append({"name": name, "first": values[::-1], "last": last[::-1]})
        steps.append(
            {
                "function": qualified(code),
                "file": os.path.abspath(code.co_filename),
                "line": line,
                "library": sources.is_library(code.co_filename),
                "arguments": rows,
            }
        )
    return {"steps": steps[::-1], "rounds": len(turns)}
