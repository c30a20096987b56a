"""A language server that does what a script says, right or wrong. Words: the script's file, the log's file.

The script is a list of runs, one for each start, the last for all that follow. A run says for each method a list of
acts; what it does not name is answered as a server without faults would. Every message goes to the log.
"""

import json
import os
import sys
import time

script_path, log_path = sys.argv[1:3]


def log(kind, value):
    with open(log_path, "a") as file:
        file.write(json.dumps({kind: value}) + "\n")


def read():
    length = None
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        if line == b"\r\n":
            break
        name, value = line.split(b":")
        if name == b"Content-Length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length))


def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(message):
    message["jsonrpc"] = "2.0"
    body = json.dumps(message).encode()
    raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)


GOOD = {
    "initialize": [{"answer": {"capabilities": {
        "definitionProvider": True, "referencesProvider": True, "callHierarchyProvider": True}}}],
    "shutdown": [{"answer": None}],
    "exit": [{"exit": 0}],
}

try:
    with open(log_path) as file:
        starts = sum('"start"' in line for line in file)
except FileNotFoundError:
    starts = 0
log("start", starts)
log("pid", os.getpid())
with open(script_path) as file:
    runs = json.load(file)
acts = {**GOOD, **runs[min(starts, len(runs) - 1)]}


def act(one, message):
    [(kind, value)] = one.items()
    if kind == "answer":
        send({"id": message["id"], "result": value})
    elif kind == "refuse":
        send({"id": message["id"], "error": {"code": value, "message": "refused by the script"}})
    elif kind == "notify":
        send({"method": value[0], "params": value[1]})
    elif kind == "ask":
        send({"id": "own-1", "method": value[0], "params": value[1]})
    elif kind == "raw":
        raw(value.encode())
    elif kind == "long":
        send({"id": message["id"], "result": "x" * value})
    elif kind == "stderr":
        print(value, file=sys.stderr, flush=True)
    elif kind == "exit":
        sys.exit(value)
    elif kind == "hang":
        time.sleep(3600)
    elif kind == "ignore":
        pass


while True:
    message = read()
    log("got", message)
    method = message.get("method")
    if method is None:
        continue
    for one in acts.get(method, [{"answer": None}] if "id" in message else []):
        act(one, message)
