#!/usr/bin/env bash
# Unpacks a gdb that speaks the Debug Adapter Protocol (14 or newer) below a folder, from Debian's packages, without
# installing anything: its own C library and Python come along. Prints the path of a program to start it with.
set -euo pipefail
folder="$(mkdir -p "$1" && cd "$1" && pwd)"
start="$folder/gdb"
if [ -x "$start" ]; then echo "$start"; exit 0; fi
suite=trixie
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/debs" "$folder/root"
# The archive that this machine is set up with.
archive="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | grep -v -- '-security' | head -1)"
[ -n "$archive" ] || { echo "error: apt knows no archive of Debian" >&2; exit 1; }
printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$archive" "$suite" > "$folder/apt/sources.list"
: > "$folder/apt/status"
options=(-o Dir::Etc::sourcelist="$folder/apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$folder/apt/lists"
  -o Dir::Cache="$folder/apt/cache" -o Dir::State::status="$folder/apt/status" -o APT::Install-Recommends=false -o Debug::NoLocking=1)
apt-get "${options[@]}" update -qq >&2
mapfile -t packages < <(apt-get "${options[@]}" install -y --print-uris -qq gdb libc6 | awk '{print $2}' | sed 's/_.*//' | sort -u)
(cd "$folder/debs" && apt-get "${options[@]}" download -qq "${packages[@]}" >&2)
for deb in "$folder/debs"/*.deb; do dpkg -x "$deb" "$folder/root"; done
loader="$(find "$folder/root" -name 'ld-linux-x86-64.so.2' | head -1)"
libraries="$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/lib/x86_64-linux-gnu"
cat > "$start.new" <<EOF
#!/bin/sh
PYTHONHOME="$folder/root/usr" exec "$loader" --library-path "$libraries" "$folder/root/usr/bin/gdb" --data-directory="$folder/root/usr/share/gdb" "\$@"
EOF
chmod +x "$start.new" && mv "$start.new" "$start"
rm -rf "$folder/debs" "$folder/apt"
echo "$start"
