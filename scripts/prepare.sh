# Sourced by the other scripts: builds Stepwell and sets `stepwell` to the program. `need_debugpy` fetches debugpy into
# Stepwell's own folder where no Python has it; nothing is installed into the system's Python.
for program in cargo python3; do
  command -v "$program" >/dev/null || { echo "error: $program is missing" >&2; exit 1; }
done
debugpy_version=1.8.22

# Cargo shows its own progress; the first build takes some minutes.
cargo build --package stepwell
stepwell="$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/debug/stepwell"

need_debugpy() {
  data="${STEPWELL_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/stepwell}"
  debugpy="$data/adapters/debugpy"
  if ! (cd / && python3 -c "import debugpy") 2>/dev/null && [ ! -f "$debugpy/debugpy/__init__.py" ]; then
    echo "fetching debugpy $debugpy_version into $debugpy"
    mkdir -p "$debugpy"
    python3 -m pip install --disable-pip-version-check --no-deps --target "$debugpy" "debugpy==$debugpy_version" || {
      echo "error: debugpy could not be fetched with pip; install it for your python3, then run this again" >&2
      exit 1
    }
  fi
}
