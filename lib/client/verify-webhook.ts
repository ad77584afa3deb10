import { createHmac, timingSafeEqual } from 'node:crypto';

/** A task as the task events tell of it; what is not set is absent. */
type Task = {
  id: string;
  title: string;
  /** In `task.status_changed` only. */
  previousStatus?: string;
  status: string;
  assignedAgent?: string;
  projectId?: string;
};

/** An execution as the agent events tell of it; from `completedAt` on the fields are known at its end only. */
type Execution = {
  id: string;
  agentName: string;
  taskId?: string;
  status: string;
  startedAt: string;
  completedAt?: string;
  durationMs?: number;
  tokensUsed?: number;
  error?: string;
};

/**
 * The body of a delivery. Times are ISO 8601 UTC: `timestamp` is this attempt's,
 * `data.occurredAt` the event's. `deliveryId` is the same over the retries of a delivery: drop what you have seen.
 */
export type Delivery = { deliveryId: string; timestamp: string } & (
  | {
      event: 'task.created' | 'task.completed' | 'task.status_changed';
      data: { task: Task; occurredAt: string };
    }
  | {
      event: 'agent.spawned' | 'agent.completed' | 'agent.failed';
      data: { execution: Execution; occurredAt: string };
    }
);

/** What a receiver was sent, and what it knows itself. */
export type Unverified = {
  /** The body as it came, before anything has parsed it: the signature is over its bytes. */
  body: Uint8Array | string;
  /** Of Node's `IncomingMessage`, of a Fetch `Request`, or a plain object; names in any case. */
  headers: { get(name: string): string | null } | { [name: string]: string | string[] | undefined };
  /** The secret that the webhook was registered with, exactly as given there. */
  secret: string;
  /** The receiver's time, in milliseconds since 1970; the machine's unless given. */
  now?: number;
  /** How far the delivery's time may be from `now` either way, in milliseconds; 5 minutes unless given. */
  toleranceMs?: number;
};

/** Why a delivery is refused. */
export type Reason =
  | 'missing_header'
  | 'repeated_header'
  | 'wrong_signature'
  | 'malformed_body'
  | 'too_old'
  | 'too_new'
  | 'header_mismatch';

/** A request that must not be worked on. Its message is for the receiver's log: it says what to do. */
export class DeliveryRefused extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string) {
    super(message);
    this.name = 'DeliveryRefused';
    this.reason = reason;
  }
}

/** How much older or newer than now a delivery may be, in milliseconds. */
const replayWindowMs = 5 * 60_000;

/**
 * Checks that a delivery is genuine and fresh, and reads it. This file stands alone: copy it into a receiver, or import
 * it.
 *
 * @throws `DeliveryRefused` for a request that is not a genuine, fresh delivery: answer it with 4xx
 * @throws TypeError for a mistake of the receiver itself: an empty secret, a body that something has parsed
 */
export function verifyWebhook({
  body,
  headers,
  secret,
  now = Date.now(),
  toleranceMs = replayWindowMs,
}: Unverified): Delivery {
  if (typeof secret !== 'string' || secret === '')
    throw new TypeError(
      'secret is empty: pass the one the webhook was registered with, an empty one anybody can guess.',
    );
  if (typeof body !== 'string' && !ArrayBuffer.isView(body))
    throw new TypeError('body must be the raw body, as bytes or text: keep it from the parser of your framework.');
  // Text is made bytes once, so that what is read below is what was signed.
  const raw = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  checkSignature(header(headers, 'X-Service-Signature'), raw, secret);
  const delivery = read(raw);
  const sentAt = Date.parse(delivery.timestamp);
  // The body's time counts and not the header's, for the header is not signed: a replay can carry a fresh one.
  checkAge(now - sentAt, toleranceMs);
  checkSame('X-Service-Timestamp', header(headers, 'X-Service-Timestamp'), String(Math.floor(sentAt / 1000)));
  checkSame('X-Service-Delivery', header(headers, 'X-Service-Delivery'), delivery.deliveryId);
  checkSame('X-Service-Event', header(headers, 'X-Service-Event'), delivery.event);
  return delivery;
}

/** The one value of a header. Node and Fetch join repeated ones with a comma, which no value of ours contains. */
function header(headers: Unverified['headers'], name: string): string {
  const values = isFetch(headers)
    ? [headers.get(name) ?? []].flat()
    : Object.entries(headers)
        .filter(([other]) => other.toLowerCase() === name.toLowerCase())
        .flatMap(([, value]) => value ?? []);
  const [value, ...more] = values.map(String);
  if (value === undefined) {
    const hint = name.endsWith('Signature')
      ? ' Register the webhook with a secret: without one nothing is signed.'
      : '';
    throw new DeliveryRefused('missing_header', `There is no ${name} header.${hint}`);
  }
  if (more.length > 0 || value.includes(','))
    throw new DeliveryRefused('repeated_header', `${name} is there more than once: look for a proxy that adds it.`);
  return value;
}

function isFetch(headers: Unverified['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

/** Compares digests and not their spelling: two of one length, as the comparison in constant time asks for. */
function checkSignature(signature: string, raw: Uint8Array, secret: string): void {
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(signature) ?? [];
  const expected = createHmac('sha256', secret).update(raw).digest();
  if (hex === undefined || !timingSafeEqual(Buffer.from(hex, 'hex'), expected))
    throw new DeliveryRefused(
      'wrong_signature',
      'X-Service-Signature does not fit the body: compare the secret with the registered one, and pass the raw body.',
    );
}

/** Reads a body whose signature is right. */
function read(raw: Uint8Array): Delivery {
  let body: Partial<Delivery> | null = null;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw));
  } catch {
    // Not UTF-8 or not JSON: refused below like any other body that is none of a delivery.
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
      'The body is signed with your secret but is no delivery: look for another sender that uses the same secret.',
    );
  return body as Delivery;
}

/** Written so that a number that is none refuses. */
function checkAge(ageMs: number, toleranceMs: number): void {
  if (!(ageMs <= toleranceMs))
    throw new DeliveryRefused(
      'too_old',
      'The delivery is too old: somebody sent it again, your clock is ahead, or it waited behind your server.',
    );
  if (!(ageMs >= -toleranceMs))
    throw new DeliveryRefused('too_new', 'The delivery is from the future: set the clock of this machine.');
}

function checkSame(name: string, value: string, signed: string): void {
  if (value !== signed)
    throw new DeliveryRefused(
      'header_mismatch',
      `${name} does not say what the signed body says: somebody changed it on the way, so do not trust the request.`,
    );
}
