"""Creates two tasks and an agent, and runs the agent, with Python 3.10 or newer and only its standard library.

Start the local service first, then:

    python3 docs/examples/python.py
"""

import json
import os
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

URL = os.environ.get("CREWBOARD_URL", "http://127.0.0.1:3000")
TOKEN = os.environ.get("CREWBOARD_TOKEN") or Path(".crewboard/token").read_text().strip()


class CrewboardError(Exception):
    """An error response. Decide by its code; the message is for people."""

    def __init__(self, status: int, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.status: int = status
        self.code: str = error["code"]
        self.details: list[dict[str, str]] = error.get("details", [])
        self.request_id: str | None = error.get("requestId")


def error_of(error: HTTPError) -> dict[str, Any]:
    """Returns the error of a response. The response of a proxy has none."""
    try:
        return json.load(error)["error"]
    except (ValueError, KeyError, TypeError):
        return {"code": "not_an_answer", "message": str(error)}


@dataclass
class Answer:
    data: Any
    pagination: dict[str, int] | None
    etag: str | None
    replayed: bool


def call(
    method: str,
    path: str,
    body: dict[str, Any] | None = None,
    *,
    key: str | None = None,
    if_match: str | None = None,
) -> Answer:
    """Sends a request, up to four times for a GET and for a POST with its key, which are safe to repeat."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if method == "POST":
        headers["Idempotency-Key"] = key or str(uuid.uuid4())
    if if_match is not None:
        headers["If-Match"] = if_match
    sent = None if body is None else json.dumps(body).encode()
    request = Request(URL + path, data=sent, headers=headers, method=method)
    repeatable = method in ("GET", "POST")
    passing = (429, 503) if repeatable else (429,)  # after 429 nothing was changed
    for wait in (1, 2, 4, None):
        try:
            with urlopen(request, timeout=60) as response:
                answer = json.load(response)
                replayed = "Idempotency-Replayed" in response.headers
                return Answer(answer.get("data"), answer.get("pagination"), response.headers["ETag"], replayed)
        except HTTPError as error:  # an error response
            after = int(error.headers.get("Retry-After", 0))  # up to a day if the daily budget of tokens is used
            if error.code not in passing or wait is None or after > 120:
                raise CrewboardError(error.code, error_of(error)) from None
            wait = after or wait
        except (URLError, TimeoutError, ConnectionError):  # no response
            if wait is None or not repeatable:
                raise
        time.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def every_item(path: str, **filters: str) -> Iterator[dict[str, Any]]:
    """Returns all items of a list, page by page."""
    offset, total = 0, 1
    while offset < total:
        page = call("GET", f"{path}?{urlencode({**filters, 'limit': 100, 'offset': offset})}")
        if not page.data:
            return
        yield from page.data
        offset, total = offset + len(page.data), page.pagination["total"]


def end_of(agent: str, execution_id: str, within: float = 60) -> dict[str, Any]:
    """Polls an execution until it ends. To be notified instead, register a webhook for its events."""
    deadline, wait = time.monotonic() + within, 0.25
    while time.monotonic() < deadline:
        execution = call("GET", f"/api/agents/{agent}/executions/{execution_id}").data
        if execution["status"] != "running":
            return execution
        time.sleep(wait)
        wait = min(wait * 2, 5)
    raise TimeoutError(f"{execution_id} still runs")


# Create two tasks. The second depends on the first.
design = call("POST", "/api/kanban-tasks", {"title": "Draw the landing page"}).data

# Store the key with the work. If your program restarts, the same key returns the first response.
key = str(uuid.uuid4())
new_task = {"title": "Build it", "dependsOn": [design["id"]]}
build = call("POST", "/api/kanban-tasks", new_task, key=key).data
again = call("POST", "/api/kanban-tasks", new_task, key=key)
print(f"created {design['id']} and {build['id']}; repeated: {again.data == build and again.replayed}")

# Create an agent. It may already exist.
agent = {"name": "builder", "displayName": "Builder", "category": "development", "systemPrompt": "You build web pages."}
try:
    call("POST", "/api/agents", agent)
    print("created builder")
except CrewboardError as error:
    if error.code != "name_taken":
        raise
    print("builder already exists")

# The task is blocked. `details` names each task that blocks it.
order = {"input": "Build the landing page.", "taskId": build["id"]}
try:
    call("POST", "/api/agents/builder/execute", order)
except CrewboardError as error:
    if error.code != "task_blocked":
        raise
    print(f"rejected: {error.status} {error.code}")
    for detail in error.details:
        print(f"  {detail['path']}: {detail['message']}")

# Change the first task only if its version is still the version that was read. A second change with it is rejected.
first = f"/api/kanban-tasks/{design['id']}"
etag = call("GET", first).etag
finished = call("PATCH", first, {"status": "done"}, if_match=etag).data
print(f"{finished['id']} is {finished['status']}")
try:
    call("PATCH", first, {"status": "backlog"}, if_match=etag)
except CrewboardError as error:
    if error.code != "precondition_failed":
        raise
    print(f"rejected: {error.status} {error.code}; read the task again, then decide again")

# The task is no longer blocked. The response does not wait for the execution, so poll it for at most a minute.
started = call("POST", "/api/agents/builder/execute", order).data
execution = end_of("builder", started["executionId"])
print(f"{execution['id']} is {execution['status']}: {execution.get('output') or execution['error']}")

# List the tasks of builder that a person must review, from all pages.
for task in every_item("/api/kanban-tasks", status="up_for_review", assigned_agent="builder"):
    print(f"to review: {task['id']} {task['title']}")
