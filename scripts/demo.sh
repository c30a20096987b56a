#!/usr/bin/env bash
# Stepwell fixes a small failing program. The model's words are recorded; files, debugger and edits are real.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo >/dev/null || { echo "error: cargo is missing; install Rust from https://rustup.rs" >&2; exit 1; }
command -v python3 >/dev/null || { echo "error: the demo's program needs python3" >&2; exit 1; }

cargo build --quiet --package stepwell
stepwell="$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/debug/stepwell"
python3 -c 'import debugpy' 2>/dev/null || python3 -m pip install --quiet debugpy \
  || python3 -m pip install --quiet --break-system-packages debugpy
"$stepwell" demo
