"""Records why a Python program fails: each failure with its frames, their values, and the lines that set them."""


def start():
    from stepwell_recorder import hooks, records, tracer

    records.write({"event": "start"})
    hooks.install()
    tracer.start()
