"""`mt`, and `python -m mt`: until the command is there, Ctrl-C ends the process without a word."""

import signal


def start() -> int:
    """Runs the command of the command line; its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from mt.cli.main import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


if __name__ == "__main__":
    raise SystemExit(start())
