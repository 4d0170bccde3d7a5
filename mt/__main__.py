"""`mt`, and `python -m mt`: until the command is there, Ctrl-C ends the process at once."""

import os
import signal


def _end(number: int, _: object) -> None:
    # No exception: libraries that are being imported would show it, or take it for their own.
    os.write(2, b"mt: interrupted\n")
    os._exit(128 + number)


def start() -> int:
    """Runs the command of the command line; its exit status."""
    signal.signal(signal.SIGINT, _end)
    from mt.cli.main import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


if __name__ == "__main__":
    raise SystemExit(start())
