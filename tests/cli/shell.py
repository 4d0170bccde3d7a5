"""`mt` as a command that shells can start, without the seconds that its imports take each time.

A server has everything imported. The command `mt` hands it arguments, folder and open files, and it
forks a process that does the work. `python shell.py SOCKET` starts the server.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = """#!{python} -IS
import json, os, socket, sys
arguments = sys.argv[1:]
if arguments[:1] == ["train"]:
    arguments += json.loads(os.environ.get("ADDED_TO_TRAIN", "[]"))
with socket.socket(socket.AF_UNIX) as to:
    to.connect({path!r})
    message = json.dumps([arguments, os.getcwd()]).encode()
    socket.send_fds(to, [len(message).to_bytes(4, "big")], [0, 1, 2])
    to.sendall(message)
    sys.exit(to.recv(1)[0])
"""


@contextmanager
def shell_with_mt(folder: Path) -> Iterator[dict[str, str]]:
    """The environment of shells in which `mt` is that command; its server lives meanwhile."""
    path = folder / "socket"
    program = folder / "bin" / "mt"
    program.parent.mkdir()
    program.write_text(COMMAND.format(python=sys.executable, path=str(path)), "utf-8")
    program.chmod(0o755)
    (program.parent / "python").symlink_to(sys.executable)
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    server = subprocess.Popen([sys.executable, __file__, str(path)], env=environment, cwd=root)
    try:
        while not path.exists():
            assert server.poll() is None
            time.sleep(0.02)
        yield {**environment, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    finally:
        server.kill()
        server.wait()


def shell(command: str, folder: Path, environment: dict[str, str], added: str = "") -> str:
    """Standard output and errors of a command of bash, which must succeed.

    `added` are arguments for every `mt train` in it.
    """
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=240, check=False,
        env={**environment, "ADDED_TO_TRAIN": json.dumps(shlex.split(added))},
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    assert "Traceback" not in done.stdout
    return done.stdout


def serve(path: str) -> None:
    """Answers one request after the other until it is killed; each in a process of its own."""
    import tensorboard  # noqa: F401
    import torch

    import mt.cli.report
    import mt.evaluation.evaluate
    import mt.training.inspection
    import mt.training.run  # noqa: F401

    torch.set_num_threads(1)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(f"{path}.new")
    listening.listen()
    Path(f"{path}.new").rename(path)
    while True:
        one, _ = listening.accept()
        with one:
            size, files, _, _ = socket.recv_fds(one, 4, 3)
            message = b""
            while len(message) < int.from_bytes(size, "big"):
                message += one.recv(65536)
            arguments, folder = json.loads(message)
            child = os.fork()
            if child == 0:
                _become(arguments, folder, files)
            for file in files:
                os.close(file)
            # A pipe of two `mt` would wait for itself here; the manual has none.
            _, status = os.waitpid(child, 0)
            one.sendall(bytes([os.waitstatus_to_exitcode(status) & 0xFF]))


def _become(arguments: list[str], folder: str, files: list[int]) -> None:
    status = 70
    try:
        os.chdir(folder)
        for number, file in enumerate(files):
            os.dup2(file, number)
        sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", buffering=1)  # noqa: SIM115
        from mt.cli.main import main

        status = main(arguments)
    except SystemExit as ending:
        status = int(ending.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1])
