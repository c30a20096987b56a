"""Runs `python -m unittest` with its own words and writes every result as a line of JSON."""
import json
import sys
import time
import unittest

report = open(sys.argv[1], "w", encoding="utf-8")


class Result(unittest.TextTestResult):
    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def tell(self, test, status, text="", inner=None):
        took = int((time.monotonic() - getattr(self, "began", time.monotonic())) * 1000)
        row = {"id": test.id(), "status": status, "text": text, "ms": took}
        if inner is not None:
            row["id"] = inner.id()
        report.write(json.dumps(row) + "\n")
        report.flush()

    def addSuccess(self, test):
        super().addSuccess(test)
        self.tell(test, "passed")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.tell(test, "failed", self.failures[-1][1])

    def addError(self, test, error):
        super().addError(test, error)
        self.tell(test, "error", self.errors[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.tell(test, "skipped", reason)

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.tell(test, "passed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.tell(test, "failed", "it succeeded although it was expected to fail")

    def addSubTest(self, test, inner, error):
        super().addSubTest(test, inner, error)
        if error is not None:
            failed = issubclass(error[0], test.failureException)
            text = (self.failures if failed else self.errors)[-1][1]
            self.tell(test, "failed" if failed else "error", text, inner)


class Runner(unittest.TextTestRunner):
    resultclass = Result


sys.path.insert(0, "")
unittest.main(module=None, argv=["python -m unittest"] + sys.argv[2:], testRunner=Runner)
