"""Prints for every test of a generated file which line stored each of its variables last: `oracle_python.py FILE`.

Every instruction is followed, so nothing is inferred: a store counts when its instruction runs.
"""

import dis
import importlib.util
import json
import sys

STORES = {}


def stores_of(code):
    known = STORES.get(id(code))
    if known is None:
        line = None
        known = {}
        starts = dict(dis.findlinestarts(code))
        for instruction in dis.get_instructions(code):
            line = starts.get(instruction.offset, line)
            if instruction.opname in ("STORE_FAST", "STORE_DEREF", "STORE_NAME"):
                known[instruction.offset] = (instruction.argval, line)
        STORES[id(code)] = known
        KEPT.append(code)
    return known


KEPT = []


class Last:
    def __init__(self):
        self.lines = {}

    def trace(self, frame, event, arg):
        frame.f_trace_opcodes = True
        if event == "opcode":
            stored = stores_of(frame.f_code).get(frame.f_lasti)
            if stored and (frame.f_code.co_name.startswith("test_") or frame.f_code.co_name == "change"):
                self.lines[stored[0]] = stored[1]
        return self.trace


spec = importlib.util.spec_from_file_location("generated", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
case = module.Generated
for name in sorted(vars(case)):
    if not name.startswith("test_"):
        continue
    last = Last()
    test = case(name)
    sys.settrace(last.trace)
    try:
        getattr(test, name)()
    except ValueError:
        pass
    finally:
        sys.settrace(None)
    print(json.dumps({"test": name, "lines": last.lines}))
