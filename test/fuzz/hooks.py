"""Hooks for what the OpenAPI document of this service does not say; schemathesis.toml has the rest."""

import json
import os
import re
from pathlib import Path
from urllib.parse import unquote

import requests
import schemathesis

# Written by main.ts: the service's address, and what the other organization has.
setup = json.loads(Path(os.environ["FUZZ_SETUP"]).read_text(encoding="utf-8"))
authorization = {"Authorization": f"Bearer {os.environ['FUZZ_TOKEN']}"}

REGISTER = "POST /api/webhooks/register"
WITH_URL = {REGISTER, "PATCH /api/webhooks/{id}"}
DELETES = {"DELETE /api/kanban-tasks/{id}", "DELETE /api/agents/{name}", "DELETE /api/webhooks/{id}"}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Lets no webhook have a URL that leads out of the loopback, nothing be deleted that the rest stands on."""
    if case.operation.label in DELETES:
        kept = setup["kept"]
        case.path_parameters = {name: kept.get(str(value), value) for name, value in case.path_parameters.items()}
    if case.meta and case.meta.phase.name == "stateful":
        # A repeated key gets the answer of the first request, whose resource may be deleted since. The next requests of the
        # sequence would look for it. The other phases send keys.
        case.headers.pop("Idempotency-Key", None)
    is_positive = case.meta and case.meta.generation.mode.is_positive
    for name in ("search", "q"):
        if is_positive and isinstance((case.query or {}).get(name), str):
            case.query = {**case.query, name: with_allowed_characters(name, case.query[name])}
    if is_positive and "waiting_for" in (case.query or {}):
        # It excludes the status.
        case.query = {name: value for name, value in case.query.items() if name != "status"}
    if not isinstance(case.body, dict):
        return
    if is_positive and case.body.get("decision") == "send_back":
        case.body = {"comment": "What is missing.", **case.body}
    url = case.body.get("url")
    if case.operation.label in WITH_URL and isinstance(url, str) and leads_out(url):
        case.body = {**case.body, "url": "https://receiver.invalid/made-up"}
    if is_positive:
        case.body = {name: kept_valid(name, value) for name, value in case.body.items()}


# The fields that need a visible character, and those of them that have no control characters.
TITLES = {"title", "displayName", "model", "capabilities", "worker"}
VISIBLE = TITLES | {"note", "text", "comment", "input", "instruction", "focusArea", "secret", "search", "q"}


def kept_valid(name, value):
    """A valid field after what dictionaries.ts and document.ts have done to it."""
    if name == "dependsOn":
        # Drawn from a dictionary one by one, which may be the same one twice.
        return list(dict.fromkeys(value))
    if isinstance(value, str):
        return with_allowed_characters(name, value)
    if name == "capabilities":
        return list(dict.fromkeys(with_allowed_characters(name, one) for one in value))
    if name == "context":
        return kept_by_json(value)
    return value


def with_allowed_characters(name, text):
    """A text with the characters that its field may have, and a visible one if it needs one. No pattern of a schema says that."""
    if name in TITLES:
        text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "-", text)
    text = text.replace("\0", "-")
    needs_one = name in VISIBLE and not any(one.isascii() and one.isprintable() and one != " " for one in text)
    return f"{text[:-1]}." if needs_one else text


# The greatest whole number that JSON keeps in every language.
GREATEST = 2**53 - 1


def kept_by_json(value):
    """A free-form value whose whole numbers JSON keeps, without U+0000. A schema can say that of no value that nests."""
    if isinstance(value, dict):
        return {name.replace("\0", "-"): kept_by_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [kept_by_json(one) for one in value]
    if isinstance(value, str):
        return value.replace("\0", "-")
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-GREATEST, min(GREATEST, value))
    return value


def leads_out(url):
    """Whether the service may accept a URL: https, not a rejected address, and a name that may exist."""
    # As the WHATWG URL standard reads it: white space around it, tabs and line ends within it do not count.
    read = re.sub(r"[\t\n\r]", "", url.strip("".join(map(chr, range(33))))).lower()
    if not read.startswith("https:"):
        return False
    return re.fullmatch(r"https://([^/?#\\@]*@)?(([a-z0-9-]+\.)*invalid|10\.0\.0\.1|\[::1\])(:\d+)?(/[^\\]*)?", read) is None


# Each event goes to every subscribed webhook: deliveries to a hundred of them would take all the time of the service.
MOST_WEBHOOKS = 6
registered = []


@schemathesis.hook
def after_call(context, case, response):
    """Keeps the number of webhooks small."""
    if case.operation.label == REGISTER and response.status_code == 201:
        registered.append(response.json()["data"]["id"])
        if len(registered) > MOST_WEBHOOKS:
            requests.delete(f"{setup['url']}/api/webhooks/{registered.pop(0)}", headers=authorization, timeout=30)


# Error codes that show that a resource exists. The one of a repeated key comes before any resource is read.
TELLING = {403, 409, 412, 422}
BEFORE_ANY_LOOK = "idempotency_key_reused"


@schemathesis.check
def other_organization(ctx, response, case):
    """No answer shows anything of the other organization, changes it, or reveals that it exists."""
    answer = response.text + json.dumps(dict(response.headers))
    if setup["words"] in answer:
        raise AssertionError("The answer has a text of the other organization")
    url, body = unquote(response.request.url), response.request.body or b""
    sent = body if isinstance(body, str) else body.decode("utf-8", "replace")
    for thing in setup["others"]:
        if thing in answer and thing not in url and thing not in sent:
            raise AssertionError(f"The answer names {thing} of the other organization")
        path, _, query = url.partition("?")
        succeeded = 200 <= response.status_code < 300
        telling = response.status_code in TELLING and BEFORE_ANY_LOOK not in answer
        if thing in path and (succeeded or telling):
            raise AssertionError(f"{response.status_code} reveals {thing} of the other organization")
        # A worker that names an agent or a project of another organization gets no task: `"data": null`.
        if thing in sent and succeeded and not answer.startswith('{"success":true,"data":null}'):
            raise AssertionError(f"A request with {thing} of the other organization succeeded")
        # Lists have their total in the pagination, counts in the data; the list of ready tasks has none.
        if thing in query and succeeded:
            data = response.json()["data"]
            total = response.json().get("pagination", data if isinstance(data, dict) else {}).get("total", len(data))
            if total != 0:
                raise AssertionError(f"A list has something of {thing} of the other organization")
