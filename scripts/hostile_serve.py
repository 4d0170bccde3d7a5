"""Sends `mt serve` thousands of requests that nobody should send, and looks at what becomes of it.

    python scripts/hostile_serve.py --model weights/phrasebook --requests 5000

Broken JSON, wrong types, huge, deep and slow bodies, bad encodings, path tricks, markup in every
field, and what is hardly HTTP. No answer may be a 500 or show a trace, nothing may be said on
stderr, memory and open files may not grow, and at the end it must translate as at the beginning.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlencode

PATHS = ("/translate", "/mt/translate", "/mt/attention", "/detect", "/suggest")
MARKUP = (
    "<script>alert(1)</script>", "<p>a<b>c</p></b>", "<!--", "]]>", "&#x110000;", "&#0;",
    "<" * 4000, "</" * 2000, "<a " * 1500, "&" * 5000, "<!" * 2000, "<?" * 2000,
    '<a href="' * 800, "<p>" * 900, "<script>", "<style>" * 300, "<p translate=no>" * 200,
    "<![CDATA[" * 500, "<![if " * 500, "\u2028<b>\u2029",
)  # fmt: skip
TRICKS = (
    "/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
    "/page.css/../../config.py", "/page/__init__.py", "/%00", "/\\..\\..", "/..;/", "/.git/config",
    "/translate/", "/TRANSLATE", "/translate%00", "/%ff%fe", "/?q=" + "a" * 3000, "/" + "a/" * 2000,
    "http://other.example/", "*", "/;x=y", "/%252e%252e/", "/weights/", "/config.yaml",
)  # fmt: skip
PARTS = 5
GROWTH = 48.0  # MiB that memory may grow after the first part: what allocators keep
PATIENCE = 120.0  # seconds; the server's own, for the body and for the answer, is half
Maker = Callable[[random.Random], bytes]


def post(path: str, body: bytes, kind: str = "application/json", head: str = "") -> bytes:
    start = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: {kind}\r\n{head}"
    )
    return f"{start}Content-Length: {len(body)}\r\n\r\n".encode() + body


def valid(rng: random.Random, **changes: object) -> dict[str, object]:
    fields = {"q": "the cat sleeps.", "source": "en", "target": "it", "format": "text"}
    return {**fields, "alternatives": rng.choice([0, 1]), **changes}


def any_value(rng: random.Random, depth: int = 0) -> object:
    plain = [None, True, False, 0, -1, 1e308, 10**30, "", "x", "en", "\x00", "\ud800", "é" * 50]
    if depth < 3 and rng.random() < 0.4:
        count = rng.randrange(4)
        if rng.random() < 0.5:
            return [any_value(rng, depth + 1) for _ in range(count)]
        return {str(any_value(rng, 3)): any_value(rng, depth + 1) for _ in range(count)}
    return rng.choice(plain)


def broken_json(rng: random.Random) -> bytes:
    text = bytearray(json.dumps(valid(rng)).encode())
    for _ in range(rng.randint(1, 4)):
        text[rng.randrange(len(text))] = rng.randrange(256)
    return post(rng.choice(PATHS), bytes(text[: rng.randint(0, len(text))]))


def wrong_types(rng: random.Random) -> bytes:
    names = ["q", "source", "target", "format", "alternatives", "api_key", "layer", "head"]
    changes = {name: any_value(rng) for name in rng.sample(names, rng.randint(1, 4))}
    return post(rng.choice(PATHS), json.dumps(valid(rng, **changes)).encode())


def huge(rng: random.Random) -> bytes:
    big: list[Maker] = [
        lambda rng: post("/translate", b" " * rng.randint(1 << 20, 3 << 20)),
        lambda rng: post("/translate", json.dumps(valid(rng, q="word " * 40_000)).encode()),
        lambda rng: post("/translate", json.dumps(valid(rng, q=["a"] * 90_000)).encode()),
        lambda rng: post("/translate", json.dumps(valid(rng, q="a" * 9_999)).encode()),
        lambda rng: post("/translate", b"q=a&" * 9_000, "application/x-www-form-urlencoded"),
        lambda rng: post("/detect", b"{}", head="X: " + "y" * 70_000 + "\r\n"),
        lambda rng: post("/detect", b"{}", head="A: b\r\n" * 3_000),
        lambda rng: post("/" + "a" * 60_000, b"{}"),
        lambda rng: post("/translate", b'{"q": ' + b"9" * 500_000 + b"}"),
    ]
    return rng.choice(big)(rng)


def deep(rng: random.Random) -> bytes:
    count = rng.choice([500, 5_000, 100_000])
    opened, closed = rng.choice([(b"[", b"]"), (b'{"q":', b"}")])
    return post(rng.choice(PATHS), opened * count + (b"1" + closed * count) * rng.randrange(2))


def encodings(rng: random.Random) -> bytes:
    text = json.dumps(valid(rng, q="perché \ud83d\ude00 \ud800 \udfff"), ensure_ascii=False)
    raw = text.encode("utf-8", "surrogatepass")
    kinds = [
        raw, text.encode("utf-16", "surrogatepass"), text.encode("utf-32", "surrogatepass"),
        b"\xef\xbb\xbf" + raw, raw.replace(b"per", b"\xc0\xaf\xff"), rng.randbytes(200),
        json.dumps(valid(rng, q="\ud800\x00\uffff\u202e" * 20)).encode(),
        text.encode("latin-1", "replace"),
    ]  # fmt: skip
    form = f"q=%{rng.randrange(256):02x}%zz%&source=en&target=it".encode()
    if rng.random() < 0.3:
        return post("/translate", form, "application/x-www-form-urlencoded")
    charset = rng.choice(["", "; charset=latin-1", "; charset=nosuch", "; charset=utf-16"])
    return post(rng.choice(PATHS), rng.choice(kinds), f"application/json{charset}")


def path_tricks(rng: random.Random) -> bytes:
    method = rng.choice(["GET", "GET", "GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "HEAD"])
    path = rng.choice(TRICKS)
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()


def markup(rng: random.Random) -> bytes:
    names = ["q", "source", "target", "format", "api_key", "alternatives"]
    changes: dict[str, object] = {name: rng.choice(MARKUP) for name in rng.sample(names, 1)}
    if rng.random() < 0.6:
        pieces = [rng.choice(MARKUP)[:400] for _ in range(rng.randint(1, 8))]
        changes = {"q": "the cat ".join(pieces), "format": rng.choice(["html", "html", "text"])}
    if rng.random() < 0.3:
        body = urlencode(valid(rng, **changes)).encode()
        return post(rng.choice(PATHS), body, "application/x-www-form-urlencoded")
    path = rng.choice([*PATHS, "/" + quote(str(next(iter(changes.values())))[:200])])
    return post(path, json.dumps(valid(rng, **changes)).encode())


def not_http(rng: random.Random) -> bytes:
    body = json.dumps(valid(rng)).encode()
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    kinds = [
        rng.randbytes(100), b"\x16\x03\x01\x02\x00\x01\x00", b"GET /\r\n\r\n", b"\r\n" * 500,
        head + b"Content-Length: -5\r\n\r\n" + body, head + b"Content-Length: x\r\n\r\n" + body,
        head + b"Content-Length: 5\r\nContent-Length: 900\r\n\r\n" + body,
        head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + body,
        head + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nffffffff\r\n" + body,
        head + b"Transfer-Encoding: gzip\r\n\r\n" + body,
        head + b"Content-Length: 3\r\n\r\n" + body * 3, head + b"Expect: 100-continue\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 50,
    ]  # fmt: skip
    return rng.choice(kinds)


def slow(rng: random.Random) -> bytes:
    """Cut off anywhere; it is sent in pieces."""
    whole = post(rng.choice(PATHS), json.dumps(valid(rng)).encode())
    return whole[: rng.randrange(len(whole))]


KINDS: tuple[Maker, ...] = (
    broken_json, wrong_types, huge, deep, encodings, path_tricks, markup, not_http, slow,
)  # fmt: skip


def send(port: int, kind: Maker, seed: int) -> tuple[str, str, bytes]:
    """The kind, the status or what came instead, and the answer."""
    rng = random.Random(seed)
    data = kind(rng)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
            if kind is slow:
                for piece in (data[: len(data) // 2], data[len(data) // 2 :]):
                    connection.sendall(piece)
                    time.sleep(rng.choice([0.0, 0.05, 0.3]))
                if rng.random() < 0.5:
                    return kind.__name__, "left", b""
            else:
                connection.sendall(data)
            if kind in (slow, not_http):  # nobody would answer what is not finished
                connection.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    except TimeoutError:
        return kind.__name__, "no answer", b""
    except OSError:
        return kind.__name__, "closed", b""
    status = answer[9:12].decode("ascii", "replace") if answer.startswith(b"HTTP/") else "nothing"
    return kind.__name__, status, answer


def start(model: str, folder: Path, *options: str) -> tuple[Popen[bytes], int]:
    """A server of its own, and its port."""
    log = folder / "stderr.txt"
    command = [sys.executable, "-m", "mt", "serve", "--port", "0", "--model", model, *options]
    with log.open("wb") as err:
        process = Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=err)
    while "Ctrl-C" not in log.read_text():
        if process.poll() is not None:
            raise SystemExit(log.read_text())
        time.sleep(0.1)
    port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/", log.read_text())[0])
    return process, port


def memory(process: Popen[bytes]) -> float:
    """MiB resident."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def translation(port: int) -> bytes:
    fields = {"q": "the cat sleeps.", "source": "en", "target": "it"}
    body = json.dumps(fields).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(post("/translate", body))
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    return answer.partition(b"\r\n\r\n")[2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="an English-Italian model")
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="mt-hostile-") as folder:
        process, port = start(arguments.model, Path(folder))
        try:
            return attack(arguments, process, port, Path(folder) / "stderr.txt")
        finally:
            process.terminate()
            process.wait(PATIENCE)


def attack(arguments: argparse.Namespace, process: Popen[bytes], port: int, log: Path) -> int:
    said, before = log.read_text(), translation(port)
    tasks = [(KINDS[n % len(KINDS)], arguments.seed + n) for n in range(arguments.requests)]
    each = -(-len(tasks) // PARTS)
    parts = [tasks[i : i + each] for i in range(0, len(tasks), each)]
    counts: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    sizes, files = [], []
    began = time.perf_counter()
    with ThreadPoolExecutor(arguments.clients) as pool:
        for part in parts:
            for (kind, seed), (name, status, answer) in zip(
                part, pool.map(lambda task: send(port, *task), part), strict=True
            ):
                counts[name, status] += 1
                if status in ("500", "no answer") or b"Traceback" in answer or b'.py"' in answer:
                    wrong.append(f"{kind.__name__} {seed}: {status} {answer[:300]!r}")
            time.sleep(1)
            sizes.append(memory(process))
            files.append(len(list(Path(f"/proc/{process.pid}/fd").iterdir())))
    seconds = time.perf_counter() - began
    for kind in KINDS:
        own = {status: n for (name, status), n in sorted(counts.items()) if name == kind.__name__}
        print(f"{kind.__name__:12s}", "  ".join(f"{status} × {n}" for status, n in own.items()))
    print(f"{len(tasks):,} requests in {seconds:.0f} s")
    print(f"memory after each {each:,}:", ", ".join(f"{size:.0f}" for size in sizes), "MiB")
    print("open files:", ", ".join(map(str, files)))
    if sizes[-1] - sizes[0] > GROWTH:
        wrong.append("memory grew")
    if files[-1] > files[0] + arguments.clients:
        wrong.append("open files grew")
    if log.read_text() != said:
        wrong.append(f"stderr: {log.read_text()[len(said) :][:500]}")
    if translation(port) != before:
        wrong.append("it does not translate as before")
    print("\n".join(wrong) or "no 500, no trace, nothing on stderr, and it translates as before")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
