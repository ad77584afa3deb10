# A receiver of webhooks with FastAPI. It processes each delivery once, after its response.
#
#   WEBHOOK_SECRET=a-long-secret python3 docs/examples/fastapi_receiver.py
#
# Install its packages first: pip install fastapi uvicorn
import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import uvicorn
from fastapi import BackgroundTasks, FastAPI, Request, Response

PORT = int(os.environ.get("PORT", "8080"))
SECRET = os.fsencode(os.environ.get("WEBHOOK_SECRET", ""))
if not SECRET:
    raise SystemExit("Set WEBHOOK_SECRET to the secret that the webhook is registered with.")

BODY_LIMIT = 1024 * 1024
WINDOW = timedelta(minutes=5)

# In memory, so lost at a restart, as is unfinished work. In production, put deliveries on a durable queue before you answer,
# and store the ids in your database, in the transaction of the work, for a day.
seen: set[str] = set()

app = FastAPI()


@app.post("/crewboard")
async def receive(request: Request, background: BackgroundTasks) -> Response:
    # Each delivery has a Content-Length.
    length = request.headers.get("Content-Length", "")
    if not length.isdecimal() or int(length) > BODY_LIMIT:
        return Response(status_code=413)
    # The signature is over the raw bytes, so do not declare the body as a parameter.
    raw = await request.body()
    if not is_genuine(raw, request.headers):
        return Response(status_code=401)
    try:
        delivery = json.loads(raw)
        if not is_fresh(delivery["timestamp"]):
            return Response(status_code=401)
        delivery_id, event, data = delivery["deliveryId"], delivery["event"], delivery["data"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return Response(status_code=400)
    if delivery_id not in seen:
        seen.add(delivery_id)
        background.add_task(work, event, data)
    return Response(status_code=204)


# While the secret is rotated, the second header has the signature of the old one.
SIGNATURE_HEADERS = ("X-Service-Signature", "X-Service-Signature-Previous")


def is_genuine(raw: bytes, headers: Mapping[str, str]) -> bool:
    expected = "sha256=" + hmac.new(SECRET, raw, hashlib.sha256).hexdigest()
    signatures = [headers.get(name, "") for name in SIGNATURE_HEADERS]
    return any(hmac.compare_digest(signature.encode(), expected.encode()) for signature in signatures)


def is_fresh(timestamp: str) -> bool:
    """Checks the timestamp of the body, because the header is not signed."""
    sent_at = datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
    return abs(datetime.now(timezone.utc) - sent_at) <= WINDOW


def work(event: str, data: dict[str, Any]) -> None:
    """Runs after the response."""
    if event == "task.completed":
        print(f"{data['task']['title']} is done", flush=True)
    elif event == "agent.failed":
        print(f"{data['execution']['agentName']} failed: {data['execution']['error']}", flush=True)
    else:
        # Ignore unknown events: later versions may add some. Register only for the events that you process.
        print(f"nothing to do for {event}", flush=True)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT)
