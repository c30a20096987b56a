import sys

# Modules of the folder this was started in must not stand in for those of Python, nor for those imported next.
sys.path = [entry for entry in sys.path if entry]
import os, runpy, socket

folder = os.environ.pop("STEPWELL_DEBUGPY", None)
if folder:
    sys.path.insert(0, folder)

QUICKACK = getattr(socket, "TCP_QUICKACK", None)
if QUICKACK is not None:
    from debugpy.common import messaging

    class Quick:
        def __init__(self, stream, connection):
            self._stream, self._connection = stream, connection

        def _acknowledge(self):
            try:
                self._connection.setsockopt(socket.IPPROTO_TCP, QUICKACK, 1)
            except OSError:
                pass

        def readline(self, *words):
            self._acknowledge()
            return self._stream.readline(*words)

        def read(self, *words):
            self._acknowledge()
            return self._stream.read(*words)

        def __getattr__(self, name):
            return getattr(self._stream, name)

    plain = messaging.JsonIOStream.from_socket.__func__

    def from_socket(cls, connection, name=None):
        stream = plain(cls, connection, name)
        if hasattr(stream, "_reader"):
            stream._reader = Quick(stream._reader, connection)
        return stream

    messaging.JsonIOStream.from_socket = classmethod(from_socket)

# The program reads what is typed for it; debugpy would give it nothing.
terminal = os.environ.pop("STEPWELL_INPUT", None)
if terminal:
    from debugpy.adapter import launchers

    plain_spawn = launchers.spawn_debuggee

    def spawn_debuggee(*words, **named):
        sys.stdin = open(terminal)
        return plain_spawn(*words, **named)

    launchers.spawn_debuggee = spawn_debuggee

sys.argv = ["debugpy.adapter"]
runpy.run_module("debugpy.adapter", run_name="__main__", alter_sys=True)
