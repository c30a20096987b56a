"""Tells failing tests of pytest to the recorder; pytest loads it because PYTEST_PLUGINS names it."""

import pytest

from stepwell_recorder import failures, tracer


def pytest_configure():
    tracer.suspend()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol():
    tracer.resume()
    yield
    tracer.suspend()


def pytest_exception_interact(node, call, report):
    error = call.excinfo.value
    phase = getattr(report, "when", None) or "collect"
    failures.record(error, "test", test=getattr(node, "nodeid", None), phase=phase, traceback=call.excinfo.tb)
