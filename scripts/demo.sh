#!/usr/bin/env bash
# Stepwell fixes a small failing program. The model's words are recorded; files, commands and edits are real.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo >/dev/null || { echo "error: cargo is missing; install Rust from https://rustup.rs" >&2; exit 1; }
command -v python3 >/dev/null || { echo "error: the demo's program needs python3" >&2; exit 1; }

cargo build --quiet --package stepwell
stepwell="$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/debug/stepwell"
cassette="$PWD/fixtures/demo/fix-ranges.cassette"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cp -r fixtures/demo/project "$folder/project"
cd "$folder/project"
export STEPWELL_HOME="$folder/data" STEPWELL_CONFIG="$folder/config"

echo '$ stepwell run "the tests of ranges.py fail; find out why and fix it"'
"$stepwell" run --model "replay-lenient:$cassette" --permission-mode bypassPermissions \
  "the tests of ranges.py fail; find out why and fix it"
