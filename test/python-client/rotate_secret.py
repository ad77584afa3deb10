"""Rotates the secret of a webhook under load; its receiver verifies with standardwebhooks and must reject no delivery.

CREWBOARD_URL is the address of a service that accepts receivers on 127.0.0.1, and CREWBOARD_TOKEN an access token. Mypy
checks this program too.
"""

import json
import os
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from crewboard_client import AuthenticatedClient
from crewboard_client.api.tasks import create_task
from crewboard_client.api.webhooks import list_deliveries, register_webhook, rotate_webhook_secret
from crewboard_client.models import (
    CreateTaskResponse201,
    EventName,
    ListDeliveriesResponse200,
    NewTask,
    NewWebhook,
    RegisterWebhookResponse201,
    RotateWebhookSecretResponse200,
    SecretRotation,
)
from standardwebhooks import Webhook, WebhookVerificationError

BEFORE = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
AFTER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDPmzEFmmjVZo="

LOADERS = 4
WAIT_SECONDS = 60

# The longest page of a history.
PAGE = 100

# Guards the variables below, and is notified of each delivery.
changed = threading.Condition()
known_secrets = [BEFORE]
rejected: list[str] = []
# The tasks of the deliveries so far, and whether each delivery had a signature of the previous secret.
received_tasks: set[str] = set()
rotating: list[bool] = []


def is_genuine(body: bytes, headers: dict[str, str]) -> bool:
    for secret in known_secrets:
        try:
            Webhook(secret).verify(body, headers)
            return True
        except WebhookVerificationError:
            pass
    return False


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        delivery = json.loads(body)
        # A delivery counts as received once it is verified, so that the known secrets change between two deliveries.
        with changed:
            genuine = is_genuine(body, dict(self.headers))
            if not genuine:
                rejected.append(delivery["deliveryId"])
            received_tasks.add(delivery["data"]["task"]["id"])
            rotating.append("X-Service-Signature-Previous" in self.headers)
            changed.notify_all()
        self.send_response(204 if genuine else 401)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def wait_for(what: str, condition: Callable[[], bool]) -> None:
    with changed:
        assert changed.wait_for(condition, WAIT_SECONDS), f"not within {WAIT_SECONDS} s: {what}"


class Load:
    """Creates tasks until it is stopped."""

    def __init__(self, client: AuthenticatedClient) -> None:
        self.client = client
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.created: list[str] = []
        self.creating: set[threading.Event] = set()
        self.threads = [threading.Thread(target=self.run) for _ in range(LOADERS)]

    def run(self) -> None:
        while not self.stopped.is_set():
            ended = threading.Event()
            with self.lock:
                self.creating.add(ended)
            try:
                answer = create_task.sync(client=self.client, body=NewTask(title="A task"))
                assert isinstance(answer, CreateTaskResponse201), answer
                with self.lock:
                    self.created.append(answer.data.id)
            finally:
                with self.lock:
                    self.creating.remove(ended)
                ended.set()

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def wait_for_all_so_far(self, what: str) -> None:
        """Waits for the deliveries of all tasks so far, and so for all attempts that have begun."""
        with self.lock:
            creating = list(self.creating)
        for ended in creating:
            assert ended.wait(WAIT_SECONDS), what
        with self.lock:
            tasks = set(self.created)
        wait_for(what, lambda: received_tasks >= tasks)


def know(*secrets: str) -> None:
    with changed:
        known_secrets[:] = secrets


def rotate(client: AuthenticatedClient, webhook: str, overlap_seconds: int) -> None:
    body = SecretRotation(secret=AFTER, overlap_seconds=overlap_seconds)
    answer = rotate_webhook_secret.sync(webhook, client=client, body=body)
    assert isinstance(answer, RotateWebhookSecretResponse200), answer


def rotate_under_load(client: AuthenticatedClient, webhook: str, load: Load) -> None:
    load.wait_for_all_so_far("deliveries before the rotation")
    rotate(client, webhook, overlap_seconds=3600)
    # The receiver still knows the old secret only.
    wait_for("ten deliveries with both signatures", lambda: rotating.count(True) >= 10)
    know(BEFORE, AFTER)
    # The attempts that began before the rotation have no signature of the new secret.
    load.wait_for_all_so_far("deliveries to a receiver with both secrets")
    know(AFTER)
    load.wait_for_all_so_far("deliveries to a receiver with the new secret")
    # The new secret stays the current one, and the old one ends.
    rotate(client, webhook, overlap_seconds=0)
    wait_for("a delivery after the end of the old secret", lambda: not rotating[-1])
    load.wait_for_all_so_far("deliveries after the rotation")


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with AuthenticatedClient(base_url=os.environ["CREWBOARD_URL"], token=os.environ["CREWBOARD_TOKEN"]) as client:
        url = f"http://127.0.0.1:{server.server_port}/hooks"
        new = NewWebhook(url=url, events=[EventName.TASK_CREATED], secret=BEFORE)
        registered = register_webhook.sync(client=client, body=new)
        assert isinstance(registered, RegisterWebhookResponse201), registered
        webhook = registered.data.id

        load = Load(client)
        load.start()
        try:
            rotate_under_load(client, webhook, load)
        finally:
            load.stop()
        load.wait_for_all_so_far("all deliveries")

        assert rejected == [], f"rejected {len(rejected)} of {len(rotating)} deliveries"
        assert received_tasks == set(load.created), received_tasks ^ set(load.created)
        page = list_deliveries.sync(webhook, client=client, limit=PAGE)
        assert isinstance(page, ListDeliveriesResponse200), page
        assert page.data and {attempt.http_status for attempt in page.data} == {204}, page
    print(f"verified {len(rotating)} deliveries, {rotating.count(True)} of them with both signatures")


main()
