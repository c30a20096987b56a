"""Follows the program's own functions and records which line set each variable.

The bytecode says what a line stores, the interpreter says which lines run. A line is split into runs of instructions
that belong to it, because a statement over several lines returns to its first line for the store. Where a run has
jumps, it is followed instruction by instruction: what it stores depends on them.
"""

import os
import sys
from collections import OrderedDict, deque

from stepwell_recorder.sources import is_library
from stepwell_recorder.values import SIMPLE, CONTAINERS, message_of, name_of, qualified, quick, still

# Events after which tracing ends, so that a program that computes for long is not slowed down for long.
BUDGET = int(os.environ.get("STEPWELL_RECORD_BUDGET", "150000"))
# Functions to trace, as `file:first line`; all of the program's own where empty.
ONLY = frozenset(filter(None, os.environ.get("STEPWELL_RECORD_ONLY", "").split("\n")))
WRITES = 4
UNWOUND = 256
HANDLED = 6
EXCEPTIONS = 2000
# Variables whose texts are kept when an exception is raised, and lines of one call that they are kept of.
STILLS = 24
RAISES = 8

_GENERATOR = 0x20 | 0x80 | 0x200
_MISSING = object()
# Instructions that never go on to the next one.
_LEAVES = ("JUMP_BACKWARD", "JUMP_FORWARD", "JUMP_ABSOLUTE", "RETURN_", "RAISE_VARARGS", "RERAISE")

exhausted = False
handled = deque(maxlen=HANDLED)
_active = False
_events = 0
_exceptions = 0
_last_exception = None
_plans = {}
_states = {}
_unwound = OrderedDict()
_globals = {}
_attributes = OrderedDict()


class Write:
    """One line that gave a variable its value."""

    __slots__ = ("file", "line", "function", "changes", "value", "inputs")

    def __init__(self, code, line, value, inputs, changes):
        self.file = code.co_filename
        self.function = code
        self.line = line
        self.value = value if type(value) in SIMPLE else _Text(quick(value), id(value))
        self.inputs = inputs
        # Whether the contents changed, not the variable itself.
        self.changes = changes

    def is_of(self, value):
        """Whether the variable still has what this line gave it."""
        if type(self.value) is _Text:
            if self.value.identity != id(value):
                return False
            return self.value.text is None or self.value.text == quick(value)
        return type(value) is type(self.value) and (value is self.value or value == self.value)

    def is_same(self, value):
        """As `is_of`, whatever happened to the contents."""
        return self.value.identity == id(value) if type(self.value) is _Text else self.is_of(value)

    def text(self):
        return self.value.text if type(self.value) is _Text else quick(self.value)


class _Text:
    __slots__ = ("text", "identity")

    def __init__(self, text, identity):
        self.text = text
        self.identity = identity


class _Run:
    """Consecutive instructions of one line."""

    # `iterates` holds the offsets between which the body of a loop lies whose head the run is.
    __slots__ = ("line", "stores", "attributes", "loads", "jumps", "iterates", "may_change", "offsets")


class _Runs(dict):
    """The runs of a code object, made when a line begins at their offset: loops enter a line in its middle."""

    def __init__(self, code):
        super().__init__()
        self.code = code
        self.instructions = None

    def __missing__(self, offset):
        import dis

        if self.instructions is None:
            self.instructions = list(dis.get_instructions(self.code))
            self.starts = [start for start, line in dis.findlinestarts(self.code) if line is not None]
            self.lines = dict(dis.findlinestarts(self.code))
        end = min((start for start in self.starts if start > offset), default=float("inf"))
        begin = max((start for start in self.starts if start <= offset), default=0)
        run = self[offset] = _Run()
        run.line = self.lines.get(begin)
        run.stores, run.attributes, run.loads, run.offsets = [], [], [], {}
        run.jumps = run.may_change = False
        run.iterates = None
        previous = None
        for instruction in self.instructions:
            if offset <= instruction.offset < end:
                _note(run, instruction, previous)
                if instruction.opname.startswith(_LEAVES) and not run.jumps:
                    break
            if instruction.opname not in ("CACHE", "PRECALL"):
                previous = instruction
        stored = dict(run.stores)
        run.loads = tuple(name for name in dict.fromkeys(run.loads) if name not in stored)
        return run


def _note(run, instruction, previous):
    import dis

    name, value = instruction.opname, instruction.argval
    names = value if isinstance(value, tuple) else (value,)
    if name.startswith("STORE_FAST") or name in ("STORE_NAME", "STORE_DEREF", "STORE_GLOBAL"):
        scope = "global" if name == "STORE_GLOBAL" else "local"
        # `STORE_FAST_LOAD_FAST` stores its first name and loads its second.
        stored = names[:1] if name == "STORE_FAST_LOAD_FAST" else names
        for stored_name in stored:
            run.stores.append((stored_name, scope))
            run.offsets[instruction.offset] = stored
    elif name == "STORE_ATTR" and previous is not None and previous.opname in ("LOAD_FAST", "LOAD_NAME", "LOAD_DEREF"):
        run.attributes.append((previous.argval, value))
    elif name.startswith(("LOAD_FAST", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")):
        run.loads.extend(names)
    if name.startswith(("CALL", "STORE_SUBSCR", "DELETE_SUBSCR", "BINARY_OP", "INPLACE_", "STORE_SLICE")):
        run.may_change = True
    if name == "FOR_ITER":
        run.iterates = (instruction.offset, instruction.argval)
    elif instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
        if not name.startswith(_LEAVES):
            run.jumps = True


class FrameState:
    """What is known of one call: the run that is going on, and the writes so far."""

    __slots__ = ("code", "runs", "run", "writes", "before", "hits", "suspended", "raised", "kept", "stills")

    def __init__(self, code, runs):
        self.code = code
        self.runs = runs
        self.run = None
        self.writes = {}
        self.before = None
        self.hits = None
        self.suspended = False
        # The line that raised last; by line, the variables and writes as they were then, and the texts of what can change
        # while the exception is handled.
        self.raised = None
        self.kept = {}
        self.stills = {}

    def trace(self, frame, event, arg):
        if not _active:
            return None
        try:
            self._saw(frame, event, arg)
        except RecursionError:
            # The program is about to fail by itself; what this event would have told is lost.
            self.run = None
        return self.trace

    def _saw(self, frame, event, arg):
        if event == "opcode":
            if self.hits is not None and self.run is not None:
                self.hits.update(self.run.offsets.get(frame.f_lasti, ()))
            return
        if self.run is not None:
            self._leave(frame, self.run, event)
            self.run = None
        if event == "line":
            _count()
            if self.raised is not None and self.raised not in self.kept:
                # What handles the exception has not begun: the values are still those of the failure.
                self.kept[self.raised] = (dict(frame.f_locals), {name: list(writes) for name, writes in self.writes.items()})
            self._enter(frame)
        elif event == "exception":
            self._raise(frame, arg)
        elif event == "return":
            self._return(frame)

    def _enter(self, frame):
        run = self.run = self.runs[frame.f_lasti]
        self.before = None
        if run.may_change and run.loads:
            variables = frame.f_locals
            before = [(name, variables[name]) for name in run.loads if type(variables.get(name)) in CONTAINERS]
            self.before = [(name, value, quick(value)) for name, value in before] or None
        if run.jumps and (run.stores or run.attributes):
            self.hits = set()
            frame.f_trace_opcodes = True
        elif self.hits is not None:
            self.hits = None
            frame.f_trace_opcodes = False

    def _leave(self, frame, run, event):
        raised = event == "exception"
        variables = frame.f_locals if run.stores or run.attributes or self.before else None
        for name, scope in run.stores:
            space = variables if scope == "local" else frame.f_globals
            value = space.get(name, _MISSING)
            if value is _MISSING:
                continue
            if run.iterates and event == "line":
                # The loop goes on where its body is reached; its head stores nothing when it ends.
                is_written = run.iterates[0] < frame.f_lasti < run.iterates[1]
            elif self.hits is not None and not run.iterates:
                is_written = name in self.hits
            elif raised or run.iterates or run.jumps:
                is_written = not self._has(frame, name, scope, value)
            else:
                is_written = True
            if is_written:
                self._wrote(frame, name, scope, Write(self.code, run.line, value, self._inputs(variables, run), False))
        if not raised and not run.jumps:
            for base, attribute in run.attributes:
                self._wrote_attribute(variables, base, attribute, run)
        for name, value, text in self.before or ():
            if variables.get(name) is value and quick(value) != text and not any(name == store for store, _ in run.stores):
                self._wrote(frame, name, "local", Write(self.code, run.line, value, (), True))
        self.before = None

    def _has(self, frame, name, scope, value):
        writes = self._history(frame, name, scope)
        return bool(writes) and writes[-1].is_same(value)

    def _history(self, frame, name, scope):
        if scope == "global" or self.code.co_name == "<module>":
            return _globals.get((id(frame.f_globals), name))
        return self.writes.get(name)

    def _wrote(self, frame, name, scope, write):
        if scope == "global" or self.code.co_name == "<module>":
            _globals.setdefault((id(frame.f_globals), name), deque(maxlen=WRITES)).append(write)
            return
        self.writes.setdefault(name, deque(maxlen=WRITES)).append(write)
        if name in self.code.co_freevars:
            owner = _owner_of(frame, name)
            if owner is not None:
                owner.writes.setdefault(name, deque(maxlen=WRITES)).append(write)

    def _wrote_attribute(self, variables, base, attribute, run):
        owner = variables.get(base, _MISSING)
        try:
            value = object.__getattribute__(owner, "__dict__").get(attribute, _MISSING)
        except Exception:
            return
        if value is _MISSING:
            return
        key = (id(owner), attribute)
        writes = _attributes.pop(key, None) or deque(maxlen=WRITES)
        writes.append(Write(self.code, run.line, value, self._inputs(variables, run), False))
        _attributes[key] = writes
        if len(_attributes) > 4000:
            _attributes.popitem(last=False)

    def _inputs(self, variables, run):
        inputs = []
        for name in run.loads:
            value = variables.get(name, _MISSING)
            if type(value) in SIMPLE:
                inputs.append((name, value))
                if len(inputs) == 4:
                    break
        return tuple(inputs)

    def _raise(self, frame, arg):
        kind, error = arg[0], arg[1]
        if kind in (StopIteration, StopAsyncIteration, GeneratorExit):
            return
        self.raised = line = frame.f_lineno
        self.kept.pop(line, None)
        if _exceptions < EXCEPTIONS:
            self.stills.pop(line, None)
            self.stills[line] = {id(value): still(value) for value in list(frame.f_locals.values())[:STILLS]}
            for known in (self.stills, self.kept):
                if len(known) > RAISES:
                    del known[next(iter(known))]
        _saw_exception(frame, kind, error)

    def _return(self, frame):
        key = id(frame)
        if self.code.co_flags & _GENERATOR:
            self.suspended = True
        if self.raised is not None or self.suspended:
            _unwound[key] = self
            _unwound.move_to_end(key)
            while len(_unwound) > UNWOUND:
                _unwound.popitem(last=False)
        _states.pop(key, None)


def _owner_of(frame, name):
    """Returns the state of the call whose variable an inner function writes: the nearest that defines the function."""
    inner = frame.f_code
    for _ in range(50):
        frame = frame.f_back
        if frame is None:
            return None
        if inner in frame.f_code.co_consts:
            state = _states.get(id(frame))
            if name in frame.f_code.co_cellvars:
                return state if state is not None and state.code is frame.f_code else None
            inner = frame.f_code
    return None


def _saw_exception(frame, kind, error):
    """Keeps the last exceptions of the program's own code as text: a program that handles one may exit because of it."""
    global _exceptions, _last_exception
    if _last_exception == id(error) or _exceptions > EXCEPTIONS:
        return
    _last_exception = id(error)
    _exceptions += 1
    if kind is SystemExit:
        code = getattr(error, "code", None)
        if code not in (None, 0, False):
            from stepwell_recorder import failures

            failures.record_exit(error, frame)
        return
    variables = [(name, quick(value), type(value).__name__) for name, value in list(frame.f_locals.items())[:20]]
    handled.append(
        {
            "type": name_of(kind),
            "message": message_of(error)[:300] if isinstance(error, BaseException) else str(error)[:300],
            "function": qualified(frame.f_code),
            "file": os.path.abspath(frame.f_code.co_filename),
            "line": frame.f_lineno,
            "variables": [list(row) for row in variables if row[1] is not None and not row[0].startswith(("__", "@"))],
        }
    )


def _count():
    global _events
    _events += 1
    if _events > BUDGET:
        _exhaust()


def _trace_call(frame, event, arg):
    try:
        return _traced(frame) if _active else None
    except RecursionError:
        return None


def _traced(frame):
    code = frame.f_code
    known = _plans.get(id(code))
    if known is None:
        known = _plans[id(code)] = (code, _runs_of(code))
    runs = known[1]
    if runs is None:
        return None
    _count()
    key = id(frame)
    if code.co_flags & _GENERATOR:
        state = _unwound.pop(key, None)
        if state is not None and state.code is code and state.suspended and frame.f_lineno != code.co_firstlineno:
            state.suspended = False
            _states[key] = state
            return state.trace
    else:
        _unwound.pop(key, None)
    state = _states[key] = FrameState(code, runs)
    return state.trace


def _runs_of(code):
    if is_library(code.co_filename):
        return None
    if ONLY and "%s:%d" % (os.path.abspath(code.co_filename), code.co_firstlineno) not in ONLY:
        return None
    return _Runs(code)


def start():
    """Traces from here on; with pytest its plugin does so for each test, because pytest itself is much code."""
    words = getattr(sys, "orig_argv", [])[1:4]
    if not any(word == "pytest" or word.endswith(("/pytest", "/py.test")) for word in words):
        resume()


def resume():
    global _active
    if sys.gettrace() is None and not exhausted:
        _active = True
        sys.settrace(_trace_call)


def suspend():
    global _active
    _active = False
    if sys.gettrace() is _trace_call:
        sys.settrace(None)


def follow_threads(threading):
    """Traces threads that start from here on, while tracing is active."""
    threading.settrace(_trace_call)


def _exhaust():
    """Ends tracing. What was recorded is forgotten: later writes would be missing from it."""
    global exhausted
    exhausted = True
    suspend()
    _states.clear()
    _unwound.clear()
    _globals.clear()
    _attributes.clear()


class paused:
    """Stops tracing while the recorder works."""

    def __enter__(self):
        global _active
        self.was_active = _active
        _active = False

    def __exit__(self, *_):
        global _active
        _active = self.was_active


def state_of(frame):
    """Returns what is known of a call, or None. Frames of a traceback are alive, so their ids are their own."""
    key = id(frame)
    state = _unwound.get(key) or _states.get(key)
    return state if state is not None and state.code is frame.f_code else None


def writes_of_global(frame, name):
    return _globals.get((id(frame.f_globals), name))


def writes_of_attribute(owner, attribute):
    return _attributes.get((id(owner), attribute))
