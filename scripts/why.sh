#!/usr/bin/env bash
# Asks why an example program fails. Builds Stepwell; no debugger is needed for a Python program.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/prepare.sh

echo '$ stepwell why -- python3 examples/python/invoice.py'
# The example fails, as it should; only a report that could not be made is an error.
"$stepwell" why -- python3 examples/python/invoice.py || [ $? = 1 ]
