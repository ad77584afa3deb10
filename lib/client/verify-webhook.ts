// Generated from the contract by `npm run generate`. Change the contract, not these types.

type TaskStatus = 'backlog' | 'assigned' | 'in_progress' | 'qa_review' | 'up_for_review' | 'done';

type TaskEventData = {
  task: {
    /** Id of a task. */
    id: string;
    title: string;
    /** Only in `task.status_changed`. */
    previousStatus?: TaskStatus;
    status: TaskStatus;
    assignedAgent?: string;
    projectId?: string;
  };
  /** The version of the task after the change: a later change has a greater one. Two events of one change have the same. Absent in events from before 0.3.0. */
  sequence?: number;
  occurredAt: string;
};

type ClaimEndReason = 'released' | 'expired' | 'taken_back' | 'failed';

type ClaimEventData = {
  task: {
    /** Id of a task. */
    id: string;
    title: string;
    /** Only in `task.status_changed`. */
    previousStatus?: TaskStatus;
    status: TaskStatus;
    assignedAgent?: string;
    projectId?: string;
  };
  /** The version of the task after the change: a later change has a greater one. Two events of one change have the same. Absent in events from before 0.3.0. */
  sequence?: number;
  occurredAt: string;
  claim: {
    /** Id of a claim. */
    id: string;
    worker: string;
  };
  /** Why the claim has ended. Only in `task.released`. */
  reason?: ClaimEndReason;
};

type ReviewDecision = 'accept' | 'send_back';

type CommentEventData = {
  task: {
    /** Id of a task. */
    id: string;
    title: string;
    /** Only in `task.status_changed`. */
    previousStatus?: TaskStatus;
    status: TaskStatus;
    assignedAgent?: string;
    projectId?: string;
  };
  /** The version of the task after the change: a later change has a greater one. Two events of one change have the same. Absent in events from before 0.3.0. */
  sequence?: number;
  occurredAt: string;
  comment: {
    /** Id of a comment. */
    id: string;
    /** Markdown. */
    text: string;
    /** Who has written it. */
    author: {
      /** `token`: a program with an access token. `person`: a person, whose access token was created as one of a person. `agent`: an agent in one of its executions. `service`: the service by itself. */
      kind: 'token' | 'agent' | 'person' | 'service';
      /** The name of the access token, or its id if it has none; the name of the agent. */
      name: string;
      /** The id of the access token or of the agent. */
      id?: string;
    };
    /** The decision, if it is the comment of a review. */
    review?: ReviewDecision;
    /** Id of a task. */
    taskId: string;
  };
};

type ExecutionStatus = 'running' | 'completed' | 'failed';

type ExecutionEventData = {
  execution: {
    /** Id of an execution. */
    id: string;
    /** Name of an agent, in kebab-case. */
    agentName: string;
    /** Id of a task. */
    taskId?: string;
    status: ExecutionStatus;
    startedAt: string;
    /** End time; absent while the execution runs. */
    completedAt?: string;
    /** Milliseconds from startedAt to completedAt, including the quality gates. */
    durationMs?: number;
    tokensUsed?: number;
    error?: string;
  };
  occurredAt: string;
};

type WebhookEventData = {
  webhook: {
    /** Id of a webhook. */
    id: string;
    /** Host of its URL, with the port if the URL has one. */
    host: string;
    description?: string;
    /** False while the webhook is paused. */
    active: boolean;
    /** End of the first failed attempt after which all have failed; in `webhook.recovered`, of the time that has ended. */
    failingSince?: string;
    /** Why the service has paused the webhook; absent if a caller paused it. */
    disabledReason?: 'failing';
  };
  /** Only in `webhook.recovered` of a webhook with `autoRecover`: how many missed events are not recovered, because there are too many or they are too old. */
  notRecovered?: number;
  occurredAt: string;
};

/**
 * The body of a delivery. Times are ISO 8601 UTC: `timestamp` is the time of this attempt, `data.occurredAt` the time
 * of the event. Retries have the same `deliveryId`: use it to ignore duplicates. Unset fields are absent.
 */
export type Delivery = { deliveryId: string; timestamp: string } & (
  | { event: 'task.created' | 'task.completed' | 'task.status_changed' | 'task.deleted'; data: TaskEventData }
  | { event: 'task.claimed' | 'task.released'; data: ClaimEventData }
  | { event: 'task.commented'; data: CommentEventData }
  | { event: 'agent.spawned' | 'agent.completed' | 'agent.failed'; data: ExecutionEventData }
  | { event: 'webhook.failing' | 'webhook.recovered' | 'webhook.paused'; data: WebhookEventData }
);

// End of the generated types.

/** A received request, and the secret and settings to verify it. */
export type Unverified = {
  /** The raw body, not parsed, as bytes or text: the signature covers its bytes. */
  body: ArrayBuffer | ArrayBufferView | string;
  /** The headers of Node's `IncomingMessage` or of a Fetch `Request`, or a plain object. Names are case-insensitive. */
  headers: { get(name: string): string | null } | { [name: string]: string | string[] | undefined };
  /** The secret of the webhook, exactly as registered; or several, of which one must match. */
  secret: string | readonly string[];
  /** The current time (Unix time, in ms); the time of the machine if unset. */
  now?: number;
  /** The maximum difference between the time of the delivery and `now`, in milliseconds; 5 minutes if unset. */
  toleranceMs?: number;
};

/** Why a delivery is rejected. */
export type Reason =
  | 'missing_header'
  | 'repeated_header'
  | 'wrong_signature'
  | 'malformed_body'
  | 'too_old'
  | 'too_new'
  | 'header_mismatch';

/** The error for a request that a receiver must not process. Its message is for the log of the receiver. */
export class DeliveryRefused extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string) {
    super(message);
    this.name = 'DeliveryRefused';
    this.reason = reason;
  }
}

/** The default of `toleranceMs`. */
const replayWindowMs = 5 * 60_000;

const signatureHeader = 'X-Service-Signature';
/** Also sent during the overlap of a rotation, with the signature of the replaced secret. */
const previousSignatureHeader = 'X-Service-Signature-Previous';

/**
 * Verifies that a delivery is authentic and recent, and returns its parsed body. During a rotation of the secret it
 * accepts the old and the new one. This file imports nothing and uses only web standards, so it runs wherever Web Crypto
 * is: copy it into a receiver, or import it.
 *
 * @throws `DeliveryRefused` for a request that is not an authentic, recent delivery: respond with 4xx
 * @throws TypeError for a mistake in the receiver: an empty secret, or a body that is already parsed
 */
export async function verifyWebhook({
  body,
  headers,
  secret,
  now = Date.now(),
  toleranceMs = replayWindowMs,
}: Unverified): Promise<Delivery> {
  const secrets = [secret].flat();
  if (secrets.length === 0 || secrets.some((each) => typeof each !== 'string' || each === ''))
    throw new TypeError('secret is empty; pass the secret that the webhook was registered with.');
  const raw = bytesOf(body);
  await checkSignature(signaturesOf(headers), raw, secrets);
  const delivery = read(raw);
  const sentAt = Date.parse(delivery.timestamp);
  // Uses the time in the body: the header is not signed, so a replayed request can have a new one.
  checkAge(now - sentAt, toleranceMs);
  checkSame('X-Service-Timestamp', header(headers, 'X-Service-Timestamp'), String(Math.floor(sentAt / 1000)));
  checkSame('X-Service-Delivery', header(headers, 'X-Service-Delivery'), delivery.deliveryId);
  checkSame('X-Service-Event', header(headers, 'X-Service-Event'), delivery.event);
  return delivery;
}

/** Returns a copy of the bytes, so that the parsed body is the signed body even if the caller changes them meanwhile. */
function bytesOf(body: Unverified['body']): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  // The bytes of a view: the values of its elements can have more than one.
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  // By its tag: a buffer of another realm, such as a test environment or a worker, is no instance.
  if (/^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(body)))
    return new Uint8Array(body).slice();
  throw new TypeError(
    'body is not the raw body as bytes or text; disable the body parser of your framework for this route.',
  );
}

/** Returns the signatures of a delivery: two during the overlap of a rotation. */
function signaturesOf(headers: Unverified['headers']): string[] {
  const signature = header(headers, signatureHeader);
  const rotates = valuesOf(headers, previousSignatureHeader).length > 0;
  return rotates ? [signature, header(headers, previousSignatureHeader)] : [signature];
}

function valuesOf(headers: Unverified['headers'], name: string): string[] {
  const values = isFetch(headers)
    ? [headers.get(name) ?? []].flat()
    : Object.entries(headers)
        .filter(([other]) => other.toLowerCase() === name.toLowerCase())
        .flatMap(([, value]) => value ?? []);
  return values.map(String);
}

/** Returns the value of a header. Node and Fetch join repeated headers with a comma, which no valid value contains. */
function header(headers: Unverified['headers'], name: string): string {
  const [value, ...more] = valuesOf(headers, name);
  if (value === undefined) {
    const hint = name.endsWith('Signature')
      ? ' Register the webhook with a secret; without one, deliveries are not signed.'
      : '';
    throw new DeliveryRefused('missing_header', `The header ${name} is missing.${hint}`);
  }
  if (more.length > 0 || value.includes(','))
    throw new DeliveryRefused(
      'repeated_header',
      `The header ${name} occurs more than once; check the proxies in front of the receiver.`,
    );
  return value;
}

function isFetch(headers: Unverified['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

/** Checks that one of the secrets has made a signature. */
async function checkSignature(
  signatures: readonly string[],
  raw: Uint8Array<ArrayBuffer>,
  secrets: readonly string[],
): Promise<void> {
  for (const secret of secrets)
    for (const signature of signatures) if (await isSignedWith(secret, signature, raw)) return;
  const padded = secrets.some((secret) => secret !== secret.trim());
  const hint = padded
    ? ' The secret has white space at its ends, such as the line break of a file; remove it, unless it is registered with it.'
    : '';
  throw new DeliveryRefused(
    'wrong_signature',
    `X-Service-Signature does not match the body; check that the secret is the registered one and that the body is raw.${hint}`,
  );
}

/** Returns whether a secret has made a signature. Web Crypto compares the bytes in constant time. */
async function isSignedWith(secret: string, signature: string, raw: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const [, hex = ''] = /^sha256=([0-9a-f]{64})$/.exec(signature) ?? [];
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['verify']);
  return crypto.subtle.verify('HMAC', key, bytes, raw);
}

/** Parses a body with a valid signature. */
function read(raw: Uint8Array): Delivery {
  let body: Partial<Delivery> | null = null;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw));
  } catch {
    // A body that is not UTF-8 or not JSON is rejected below, like any other malformed body.
  }
  const isDelivery =
    typeof body?.event === 'string' &&
    typeof body.deliveryId === 'string' &&
    typeof body.timestamp === 'string' &&
    !Number.isNaN(Date.parse(body.timestamp)) &&
    typeof body.data === 'object' &&
    body.data !== null;
  if (!isDelivery)
    throw new DeliveryRefused(
      'malformed_body',
      'The body is signed with your secret but is not a delivery; check whether another sender uses the same secret.',
    );
  return body as Delivery;
}

/** Checks the age of a delivery. Both conditions are written so that NaN is rejected. */
function checkAge(ageMs: number, toleranceMs: number): void {
  if (!(ageMs <= toleranceMs))
    throw new DeliveryRefused(
      'too_old',
      'The delivery is too old. It may be a replay, it may have waited in a queue of your server, or your clock is ahead; check the clock.',
    );
  if (!(ageMs >= -toleranceMs))
    throw new DeliveryRefused('too_new', 'The time of the delivery is in the future; set the clock of this machine.');
}

function checkSame(name: string, value: string, signed: string): void {
  if (value !== signed)
    throw new DeliveryRefused(
      'header_mismatch',
      `${name} differs from the signed body; it was changed in transit, so do not trust the request.`,
    );
}
