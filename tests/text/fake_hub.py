"""A small Hub on the loopback address: the few endpoints that the client asks for, and no more."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

Files = dict[str, bytes]
MISSING_REPO = "Lab/nothing"
GATED_REPO = "Lab/gated"


def parquet_bytes(pairs: list[tuple[str, str]], src: str = "en", tgt: str = "it") -> bytes:
    """Rows like those of opus_books, as a parquet file."""
    rows = [{"id": str(i), "translation": {src: a, tgt: b}} for i, (a, b) in enumerate(pairs)]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


def readme(subsets: list[str]) -> bytes:
    """A data set card that lists the subsets and their files."""
    configs = [
        f"- config_name: {s}\n  data_files:\n  - split: train\n    path: {s}/train-*"
        for s in subsets
    ]
    return ("---\nconfigs:\n" + "\n".join(configs) + "\n---\n# A card\n").encode()


class FakeHub:
    """Data sets by id, each with its files at every revision; the last revision is `main`."""

    def __init__(self) -> None:
        self.repos: dict[str, dict[str, Files]] = {}
        self.requests: list[str] = []

    def add(self, repo: str, revision: str, files: Files) -> None:
        self.repos.setdefault(repo, {})[revision] = files

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        self.requests.append(f"{method} {path}")
        parts = unquote(urlsplit(path).path).strip("/").split("/")
        if parts[:1] == ["datasets"] and len(parts) > 5 and parts[3] == "resolve":
            return self._file("/".join(parts[1:3]), parts[4], "/".join(parts[5:]))
        if parts[:2] == ["api", "datasets"] and len(parts) >= 4:
            return self._api("/".join(parts[2:4]), parts[4:], body)
        return 404, {}, b""

    def _repo(self, repo: str, revision: str) -> tuple[int, dict[str, str], str, Files]:
        if repo == GATED_REPO:
            return 401, {"X-Error-Code": "GatedRepo"}, "", {}
        if repo not in self.repos:
            return 404, {"X-Error-Code": "RepoNotFound"}, "", {}
        revisions = self.repos[repo]
        name = list(revisions)[-1] if revision == "main" else revision
        commit = {sha(r.encode()): r for r in revisions}.get(name, name)
        if commit not in revisions:
            return 404, {"X-Error-Code": "RevisionNotFound"}, "", {}
        return 200, {}, sha(commit.encode()), revisions[commit]

    def _file(self, repo: str, revision: str, name: str) -> tuple[int, dict[str, str], bytes]:
        status, headers, commit, files = self._repo(repo, revision)
        if status != 200:
            return status, headers, b""
        headers = {"X-Repo-Commit": commit}
        if name not in files:
            return 404, {**headers, "X-Error-Code": "EntryNotFound"}, b""
        content = files[name]
        return 200, {**headers, "ETag": f'"{sha(content)}"'}, content

    def _api(self, repo: str, rest: list[str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        revision = rest[1] if len(rest) > 1 else "main"
        status, headers, commit, files = self._repo(repo, revision)
        if status != 200:
            return status, headers, b""
        if rest[:1] == ["tree"]:
            return self._json(self._tree(files, "/".join(rest[2:])))
        if rest[:1] == ["paths-info"]:
            asked = json.loads(body)["paths"] if body[:1] == b"{" else []
            return self._json([_entry(n, files[n]) for n in files if n in asked])
        siblings = [{"rfilename": name} for name in files]
        return self._json({"id": repo, "sha": commit, "siblings": siblings, "private": False})

    def _tree(self, files: Files, under: str) -> list[dict[str, object]]:
        prefix = f"{under}/" if under else ""
        found: dict[str, dict[str, object]] = {}
        for name, content in files.items():
            child, deeper, _ = name.removeprefix(prefix).partition("/")
            if name.startswith(prefix):
                path = prefix + child
                folder = {"type": "directory", "path": path, "size": 0, "oid": sha(path.encode())}
                found[path] = folder if deeper else _entry(name, content)
        return list(found.values())

    @staticmethod
    def _json(data: object) -> tuple[int, dict[str, str], bytes]:
        return 200, {"Content-Type": "application/json"}, json.dumps(data).encode()


def sha(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def _entry(name: str, content: bytes) -> dict[str, object]:
    return {"type": "file", "path": name, "size": len(content), "oid": sha(content)}


@contextmanager
def serve(hub: FakeHub) -> Iterator[str]:
    """The address at which `hub` answers."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def _go(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, headers, content = hub.answer(self.command, self.path, body)
            start, length = 0, len(content)
            if (wanted := self.headers.get("Range", "")).startswith("bytes=") and status == 200:
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                start, end = int(first), min(int(last or length), length - 1)
                headers["Content-Range"] = f"bytes {start}-{end}/{length}"
                status, content = 206, content[start : end + 1]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_HEAD = do_POST = _go  # noqa: N815

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
