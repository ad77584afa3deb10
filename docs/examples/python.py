"""A story of two tasks and an agent, in Python 3.10 or newer with its standard library alone.

Beside the local service:

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
    """What the service refused. Go by the code; the message is for people."""

    def __init__(self, status: int, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.status: int = status
        self.code: str = error["code"]
        self.details: list[dict[str, str]] = error.get("details", [])
        self.request_id: str | None = error.get("requestId")


def refusal(error: HTTPError) -> dict[str, Any]:
    """What a refusal says. A proxy in between says nothing of the kind."""
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
    """Sends a request. A GET does no harm twice, nor does a POST under its key: they are tried four times."""
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
    passing = (429, 503) if repeatable else (429,)  # for 429 nothing was changed
    for wait in (1, 2, 4, None):
        try:
            with urlopen(request, timeout=60) as response:
                answer = json.load(response)
                replayed = "Idempotency-Replayed" in response.headers
                return Answer(answer.get("data"), answer.get("pagination"), response.headers["ETag"], replayed)
        except HTTPError as error:  # an answer, but a refusal
            if error.code not in passing or wait is None:
                raise CrewboardError(error.code, refusal(error)) from None
            wait = int(error.headers.get("Retry-After", wait))
        except (URLError, TimeoutError, ConnectionError):  # no answer
            if wait is None or not repeatable:
                raise
        time.sleep(wait)
    raise AssertionError("the last try answers or raises")


def every_item(path: str, **filters: str) -> Iterator[dict[str, Any]]:
    """All items of a list, page by page."""
    offset, total = 0, 1
    while offset < total:
        page = call("GET", f"{path}?{urlencode({**filters, 'limit': 100, 'offset': offset})}")
        if not page.data:
            return
        yield from page.data
        offset, total = offset + len(page.data), page.pagination["total"]


def end_of(agent: str, execution_id: str, within: float = 60) -> dict[str, Any]:
    """An execution once it has ended. A webhook for agent.completed and agent.failed tells the same without asking."""
    deadline, wait = time.monotonic() + within, 0.25
    while time.monotonic() < deadline:
        execution = call("GET", f"/api/agents/{agent}/executions/{execution_id}").data
        if execution["status"] != "running":
            return execution
        time.sleep(wait)
        wait = min(wait * 2, 5)
    raise TimeoutError(f"{execution_id} still runs")


# Two tasks, of which one waits for the other.
design = call("POST", "/api/kanban-tasks", {"title": "Draw the landing page"}).data

# Keep the key with the work: when your program starts over, the same key is answered as the first time.
key = str(uuid.uuid4())
new_task = {"title": "Build it", "dependsOn": [design["id"]]}
build = call("POST", "/api/kanban-tasks", new_task, key=key).data
again = call("POST", "/api/kanban-tasks", new_task, key=key)
print(f"created {design['id']} and {build['id']}; repeated: {again.data == build and again.replayed}")

# Hire an agent. One of that name may be there already.
agent = {"name": "builder", "displayName": "Builder", "category": "development", "systemPrompt": "You build web pages."}
try:
    call("POST", "/api/agents", agent)
    print("hired builder")
except CrewboardError as error:
    if error.code != "name_taken":
        raise
    print("builder is here already")

# It cannot begin yet: the details name each task that is in the way.
order = {"input": "Build the landing page.", "taskId": build["id"]}
try:
    call("POST", "/api/agents/builder/execute", order)
except CrewboardError as error:
    if error.code != "task_blocked":
        raise
    print(f"refused: {error.status} {error.code}")
    for detail in error.details:
        print(f"  {detail['path']}: {detail['message']}")

# Change the first task, but only as it was read. Once it is changed the version that we read is out of date.
first = f"/api/kanban-tasks/{design['id']}"
etag = call("GET", first).etag
finished = call("PATCH", first, {"status": "done"}, if_match=etag).data
print(f"{finished['id']} is {finished['status']}")
try:
    call("PATCH", first, {"status": "backlog"}, if_match=etag)
except CrewboardError as error:
    if error.code != "precondition_failed":
        raise
    print(f"refused: {error.status} {error.code}; read it again, then decide again")

# Now it can. The answer comes at once; the end is waited for, a minute at most.
started = call("POST", "/api/agents/builder/execute", order).data
execution = end_of("builder", started["executionId"])
print(f"{execution['id']} has {execution['status']}: {execution.get('output') or execution['error']}")

# All that builder has handed in and a person has to look at, however many pages it fills.
for task in every_item("/api/kanban-tasks", status="up_for_review", assigned_agent="builder"):
    print(f"to review: {task['id']} {task['title']}")
