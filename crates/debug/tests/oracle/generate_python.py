"""Writes a file of random failing tests: `generate_python.py SEED COUNT`. Each ends in a line that names its variables."""

import random
import sys


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.depth = 2
        self.budget = 0

    def emit(self, text):
        self.lines.append("    " * self.depth + text)

    def name(self):
        return self.random.choice("abcd")

    def value(self):
        kind = self.random.randrange(6)
        if kind < 3:
            return str(self.random.randrange(4))
        if kind == 3:
            return self.name()
        if kind == 4:
            return "%s + %d" % (self.name(), self.random.randrange(3))
        return "same(%s)" % self.name()

    def condition(self):
        return "%s %s %d" % (self.name(), self.random.choice(["<", ">", "=="]), self.random.randrange(4))

    def block(self, size):
        self.depth += 1
        for _ in range(self.random.randrange(1, size + 1)):
            self.statement()
        self.depth -= 1

    def statement(self):
        self.budget -= 1
        kinds = [self.assign] * 4 + [self.one_line, self.several_lines, self.pair, self.ternary, self.walrus, self.comprehension]
        if self.budget > 0 and self.depth < 6:
            kinds += [self.branch, self.loop, self.rounds, self.attempt, self.inner]
        self.random.choice(kinds)()

    def assign(self):
        self.emit("%s %s %s" % (self.name(), self.random.choice(["=", "=", "+="]), self.value()))

    def one_line(self):
        self.emit("if %s: %s = %s" % (self.condition(), self.name(), self.value()))

    def several_lines(self):
        self.emit("%s = same(" % self.name())
        self.emit("    %s" % self.value())
        self.emit(")")

    def pair(self):
        first, second = self.random.sample("abcd", 2)
        self.emit("%s, %s = %s, %s" % (first, second, self.value(), self.value()))

    def ternary(self):
        self.emit("%s = %s if %s else %s" % (self.name(), self.value(), self.condition(), self.value()))

    def walrus(self):
        self.emit("same((%s := %s))" % (self.name(), self.value()))

    def comprehension(self):
        self.emit("%s = sum(%s for x in range(2))" % (self.name(), self.name()))

    def branch(self):
        self.emit("if %s:" % self.condition())
        self.block(3)
        if self.random.random() < 0.5:
            self.emit("else:")
            self.block(3)

    def loop(self):
        self.emit("for %s in range(%d):" % (self.name(), self.random.randrange(4)))
        self.block(3)

    def rounds(self):
        self.emit("for _ in range(%d):" % self.random.randrange(3))
        self.block(2)

    def attempt(self):
        self.emit("try:")
        self.block(2)
        self.depth += 1
        self.emit("%s = 1 // %s" % (self.name(), self.name()))
        self.depth -= 1
        self.emit("except ZeroDivisionError:")
        self.block(2)
        if self.random.random() < 0.5:
            self.emit("finally:")
            self.block(2)

    def inner(self):
        name = self.name()
        self.emit("def change():")
        self.depth += 1
        self.emit("nonlocal %s" % name)
        self.emit("%s = %d" % (name, self.random.randrange(4)))
        self.depth -= 1
        self.emit("change()")

    def test(self, number):
        self.emit_at(1, "def test_%04d(self):" % number)
        self.depth, self.budget = 2, 8
        for name in "abcd":
            self.emit("%s = %d" % (name, self.random.randrange(4)))
        for _ in range(self.random.randrange(3, 8)):
            self.statement()
        self.emit("raise ValueError(a, b, c, d)")
        self.lines.append("")

    def emit_at(self, depth, text):
        self.lines.append("    " * depth + text)


def main():
    writer = Writer(int(sys.argv[1]))
    writer.lines += ["import unittest", "", "", "def same(value):", "    return value", "", "", "class Generated(unittest.TestCase):"]
    for number in range(int(sys.argv[2])):
        writer.test(number)
    writer.lines += ["", "if __name__ == '__main__':", "    unittest.main()"]
    print("\n".join(writer.lines))


main()
