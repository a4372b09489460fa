"""A server on this machine that `wandb sync` accepts, and that remembers what it was sent.

It answers the calls that the SDK 0.31 makes for a sync: GraphQL by operation name, the file stream of a run, and
uploads. Nothing is checked and nothing is stored beyond the lists below.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import quote, unquote

ENTITY = "somebody"


class FakeBackend:
    """Use it as a context manager; `url` is where it listens."""

    def __init__(self) -> None:
        self.graphql: list[tuple[str, dict[str, Any]]] = []
        """Operation name and variables of each call."""
        self.streams: list[dict[str, Any]] = []
        """Bodies sent to the file stream; the run of each is under `run`."""
        self.uploads: dict[str, bytes] = {}
        """What was put, by file name."""
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> FakeBackend:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def lines(self, file: str, run: str | None = None) -> list[Any]:
        """The lines streamed to a file of a run (`wandb-history.jsonl`, …), JSON decoded where they are JSON.

        `run` is its id, and may be left out where only one was synced. A later chunk for an offset replaces what was
        sent for it before, as on the real server.
        """
        found: dict[int, str] = {}
        for body in self.streams:
            chunk = (body.get("files") or {}).get(file)
            if chunk and run in (None, body["run"]):
                for i, line in enumerate(chunk["content"]):
                    found[chunk["offset"] + i] = line
        return [json.loads(found[i]) if file.endswith(("jsonl", "json")) else found[i] for i in sorted(found)]

    def operations(self, name: str) -> list[dict[str, Any]]:
        """The variables of every call of one GraphQL operation."""
        return [variables for operation, variables in self.graphql if operation == name]

    @property
    def exit_codes(self) -> list[int]:
        """The exit codes with which runs were completed."""
        return [body["exitcode"] for body in self.streams if body.get("complete")]

    def answer(self, operation: str, variables: dict[str, Any], query: str) -> Any:
        """The `data` of a GraphQL answer, None for an operation that is not known."""
        with self._lock:
            self.graphql.append((operation, variables))
            number = len(self.graphql)
        if operation in _ANSWERS:
            return _ANSWERS[operation](variables, self.url, number)
        if "__type" in query:
            empty = {"name": "T", "fields": [], "inputFields": []}
            return dict.fromkeys(re.findall(r"(\w+)\s*:\s*__type", query), empty) or {"__type": empty}
        return None

    def received(self, path: str, body: bytes) -> None:
        """An upload has come."""
        with self._lock:
            self.uploads[unquote(path.partition("/upload/")[2].partition("?")[0])] = body

    def streamed(self, path: str, body: dict[str, Any]) -> None:
        """A piece of the file stream has come. Its path ends in `…/<run id>/file_stream`."""
        with self._lock:
            self.streams.append({**body, "run": unquote(path.split("/")[-2])})


def _bucket(variables: dict[str, Any], url: str, number: int) -> Any:
    project = {"id": "cHJvag==", "name": variables.get("project"), "entity": {"id": "ZW50", "name": ENTITY}}
    bucket = {
        "id": "c3RvcmFnZQ==",
        "name": variables.get("name"),
        "displayName": variables.get("displayName") or "unnamed",
        "description": "",
        "config": variables.get("config") or "{}",
        "sweepName": variables.get("sweep"),
        "project": project,
        "historyLineCount": 0,
    }
    return {"upsertBucket": {"bucket": bucket, "inserted": True}}


def _features(variables: dict[str, Any], url: str, number: int) -> Any:
    names = ("LARGE_FILENAMES", "STRUCTURED_CONSOLE_LOGS")
    return {"serverInfo": {"features": [{"name": name, "isEnabled": True} for name in names]}}


def _viewer(variables: dict[str, Any], url: str, number: int) -> Any:
    person = {"id": "dmlld2Vy", "entity": ENTITY, "username": ENTITY, "email": "a@b", "flags": "{}"}
    return {"viewer": {**person, "teams": {"edges": []}}}


def _files(variables: dict[str, Any], url: str, number: int) -> Any:
    files = [{"name": name, "uploadUrl": f"{url}/upload/{quote(name)}"} for name in variables["files"]]
    return {"createRunFiles": {"runID": "c3RvcmFnZQ==", "uploadHeaders": [], "files": files}}


def _artifact(variables: dict[str, Any], url: str, number: int) -> Any:
    made = {"id": f"artifact{number}", "state": "PENDING", "artifactSequence": {"latestArtifact": None}}
    return {"createArtifact": {"artifact": made}}


def _manifest(variables: dict[str, Any], url: str, number: int) -> Any:
    file = {"id": "f", "uploadUrl": f"{url}/upload/manifests/{number}", "uploadHeaders": []}
    made = {"artifactManifest": {"id": f"manifest{number}", "file": file}}
    return {"createArtifactManifest": made, "updateArtifactManifest": made}


def _artifact_files(variables: dict[str, Any], url: str, number: int) -> Any:
    nodes: list[dict[str, Any]] = [
        {
            "storagePath": None,
            "uploadUrl": f"{url}/upload/{quote(file['artifactID'])}/{quote(file['name'])}",
            "uploadHeaders": [],
            "uploadMultipartUrls": None,
            "artifact": {"id": file["artifactID"]},
        }
        for file in (variables.get("input") or variables)["artifactFiles"]
    ]
    return {"createArtifactFiles": {"files": {"edges": [{"node": node} for node in nodes]}}}


_ANSWERS: dict[str, Callable[[dict[str, Any], str, int], Any]] = {
    "UpsertBucket": _bucket,
    "ServerFeaturesQuery": _features,
    "ServerFeatures": _features,
    "Viewer": _viewer,
    "CreateRunFiles": _files,
    "CreateArtifact": _artifact,
    "CreateArtifactManifest": _manifest,
    "UpdateArtifactManifest": _manifest,
    "CreateArtifactFiles": _artifact_files,
    "CommitArtifact": lambda variables, url, number: {
        "commitArtifact": {"artifact": {"id": variables["artifactID"], "digest": "x"}}
    },
    "NotifyScriptableRunAlert": lambda variables, url, number: {"notifyScriptableRunAlert": {"success": True}},
    "RunStoppedStatus": lambda variables, url, number: {"project": {"run": {"stopped": False}}},
    "RunResumeStatus": lambda variables, url, number: {
        "model": {"id": "m", "name": variables.get("project"), "entity": {"id": "e", "name": ENTITY}, "bucket": None}
    },
}


def _handler_of(backend: FakeBackend) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self._body()
            if self.path.endswith("/graphql"):
                call = json.loads(body)
                found = re.search(r"(?:query|mutation)\s+(\w+)", call["query"])
                operation = call.get("operationName") or (found[1] if found else "")
                data = backend.answer(operation, call.get("variables") or {}, call["query"])
                self._reply({"data": data} if data is not None else {"errors": [{"message": f"no {operation}"}]})
            elif self.path.endswith("/file_stream"):
                backend.streamed(self.path, json.loads(body))
                self._reply({"exitcode": None, "limits": {}})
            else:
                self._reply({})

        def do_PUT(self) -> None:
            backend.received(self.path, self._body())
            self._reply({})

        def do_GET(self) -> None:
            self._reply({}, 404 if "/upload" in self.path else 200)

        def _body(self) -> bytes:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

        def _reply(self, content: Any, status: int = 200) -> None:
            out = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(out)))
            self.end_headers()
            self.wfile.write(out)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Says nothing on stderr."""

    return Handler
