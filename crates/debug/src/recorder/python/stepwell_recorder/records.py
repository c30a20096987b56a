"""Writes records: one JSON object per line, one file per process, read by Stepwell when the command has ended."""

import os

# Bytes that one process may write.
MOST = 4 * 1024 * 1024
_written = {}


def write(record):
    folder = os.environ.get("STEPWELL_RECORD")
    pid = os.getpid()
    if not folder or _written.get(pid, 0) > MOST:
        return
    import json

    record["pid"] = pid
    line = (json.dumps(record, ensure_ascii=True, default=str) + "\n").encode("ascii")
    try:
        # Opened for each record: the program may change folders, fork, or close descriptors that it did not open.
        handle = os.open(os.path.join(folder, "%d.jsonl" % pid), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError:
        return
    try:
        os.write(handle, line)
        _written[pid] = _written.get(pid, 0) + len(line)
    finally:
        os.close(handle)
