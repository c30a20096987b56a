"""Tests of invoices; the second fails because rounding is done too early."""

import unittest


def split(amount, people):
    share = round(amount / people, 1)
    return [share] * people


class SplitTest(unittest.TestCase):
    def test_even(self):
        self.assertEqual(sum(split(9.0, 3)), 9.0)

    def test_uneven(self):
        shares = split(10.0, 3)
        self.assertAlmostEqual(sum(shares), 10.0)  # BUG


if __name__ == "__main__":
    unittest.main()
