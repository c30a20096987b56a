"""Learns of failures: uncaught exceptions, failing tests of pytest and unittest, child processes, hangs."""

import os
import sys

from stepwell_recorder import failures, tracer


def install():
    _wrap_excepthook()
    after_import("threading", _watch_threading)
    after_import("unittest.result", _watch_unittest)
    after_import("multiprocessing.process", _watch_processes)
    after_import("multiprocessing.pool", _watch_pool)
    after_import("concurrent.futures.process", _watch_executor)
    sys.meta_path.insert(0, _Finder())
    _watch_crashes()
    _answer_hang_questions()
    _tell_at_exit()


def _wrap_excepthook():
    usual = sys.excepthook

    def excepthook(kind, error, traceback):
        failures.record(error, "uncaught", traceback=traceback)
        usual(kind, error, traceback)

    sys.excepthook = excepthook


_after = {}


def after_import(name, act):
    module = sys.modules.get(name)
    if module is not None:
        act(module)
    else:
        _after[name] = act


class _Finder:
    """Runs an action when a module has been imported."""

    def find_spec(self, name, path=None, target=None):
        act = _after.pop(name, None)
        if act is None:
            return None
        import importlib.util

        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            try:
                act(module)
            except Exception:
                pass

        try:
            spec.loader.exec_module = exec_module
        except AttributeError:
            pass
        return spec


def _watch_threading(threading):
    tracer.follow_threads(threading)
    usual = getattr(threading, "excepthook", None)
    if usual is None:
        return

    def excepthook(args):
        if args.exc_value is not None and args.exc_type is not SystemExit:
            failures.record(args.exc_value, "thread", traceback=args.exc_traceback)
        usual(args)

    threading.excepthook = excepthook


def _watch_unittest(module):
    result = module.TestResult
    for name in ("addError", "addFailure"):
        _wrap_result(result, name, lambda args: (args[0], args[1]))
    _wrap_result(result, "addSubTest", lambda args: (args[1], args[2]))


def _wrap_result(result, name, parts):
    usual = getattr(result, name, None)
    if usual is None:
        return

    def wrapped(self, *args):
        test, error = parts(args)
        if error is not None and error[1] is not None and not _is_of_pytest(self):
            identity = test.id() if hasattr(test, "id") else str(test)
            failures.record(error[1], "test", test=identity, traceback=error[2])
        return usual(self, *args)

    setattr(result, name, wrapped)


def _is_of_pytest(result):
    return type(result).__module__.startswith("_pytest")


def _watch_processes(module):
    usual = module.BaseProcess._bootstrap

    def bootstrap(self, *args, **kwargs):
        run = self.run

        def recorded():
            try:
                run()
            except Exception as error:
                failures.record(error, "child")
                raise

        self.run = recorded
        return usual(self, *args, **kwargs)

    module.BaseProcess._bootstrap = bootstrap


def _watch_pool(module):
    _wrap_carrier(module, "ExceptionWithTraceback")


def _watch_executor(module):
    _wrap_carrier(module, "_ExceptionWithTraceback")


def _wrap_carrier(module, name):
    """Pools send exceptions to their parent in an envelope; there the frames of the child are still known."""
    carrier = getattr(module, name, None)
    if carrier is None:
        return
    usual = carrier.__init__

    def init(self, error, traceback):
        failures.record(error, "child", traceback=traceback)
        usual(self, error, traceback)

    carrier.__init__ = init


def _watch_crashes():
    """Has the interpreter write its frames when a signal such as SIGSEGV ends it."""
    import faulthandler

    if faulthandler.is_enabled():
        return
    folder = os.environ.get("STEPWELL_RECORD")
    if folder:
        path = os.path.join(folder, "%d.fault" % os.getpid())
        faulthandler.enable(file=open(path, "wb", buffering=0))


def _answer_hang_questions():
    try:
        import signal

        if signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL:
            signal.signal(signal.SIGUSR2, _on_hang_question)
    except (ImportError, ValueError, AttributeError):
        pass


def _on_hang_question(_, frame):
    import _thread

    # The interpreter runs handlers in the main thread, whose frame is the one that was interrupted.
    own = _thread.get_ident()
    others = [other for thread, other in sys._current_frames().items() if thread != own]
    failures.record_hang([frame] + others[:8])


def _tell_at_exit():
    import atexit

    def tell():
        from stepwell_recorder import records

        if tracer.handled or tracer.exhausted:
            records.write({"event": "end", "handled": list(tracer.handled), "exhausted": tracer.exhausted})

    atexit.register(tell)
