"""Starts Stepwell's recorder in every Python process of a recorded command.

Python imports this module at its start because its folder leads PYTHONPATH. It then runs the `sitecustomize` that
would have been imported without it.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_the_shadowed_sitecustomize():
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _start():
    try:
        import stepwell_recorder

        stepwell_recorder.start()
    except Exception:  # The program must run, recorded or not.
        if os.environ.get("STEPWELL_RECORD_DEBUG"):
            raise
    finally:
        # The program sees the module search path that it would have had.
        sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _HERE or path == ""]


if os.environ.get("STEPWELL_RECORD"):
    _start()
_run_the_shadowed_sitecustomize()
