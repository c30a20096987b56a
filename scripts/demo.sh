#!/usr/bin/env bash
# Stepwell fixes a small failing program. The model's words are recorded; files, debugger and edits are real.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/prepare.sh
need_debugpy
"$stepwell" demo
