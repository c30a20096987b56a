#!/usr/bin/env bash
# Asks why an example program fails. Builds Stepwell and gets debugpy where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo >/dev/null || { echo "error: cargo is missing; install Rust from https://rustup.rs" >&2; exit 1; }
command -v python3 >/dev/null || { echo "error: the example needs python3" >&2; exit 1; }

cargo build --quiet --package stepwell
stepwell="$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/debug/stepwell"
python3 -c 'import debugpy' 2>/dev/null || python3 -m pip install --quiet debugpy \
  || python3 -m pip install --quiet --break-system-packages debugpy

echo '$ stepwell why -- python3 examples/python/invoice.py'
# The example fails, as it should; only a report that could not be made is an error.
"$stepwell" why -- python3 examples/python/invoice.py || [ $? = 1 ]
