import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { eventNames } from '../../../lib/contract/webhooks/events.ts';
import { delivery, minutes, type Posted, secret, tampered } from '../examples/posted.ts';
import { languages, type Program, programIn, type Started, whyMissing } from './receiver-program.ts';

/** Returns a delivery with another body and the right signature for it. */
const signedAs = (change: (body: string) => string): Posted => delivery({ change });

/** Returns a delivery with a changed signature, or without one. */
function withSignature(change: (signature: string) => string | undefined): Posted {
  const posted = delivery();
  const { 'X-Service-Signature': signature = '', ...headers } = posted.headers;
  const changed = change(signature);
  return { ...posted, headers: { ...headers, ...(changed !== undefined && { 'X-Service-Signature': changed }) } };
}

const rejected: [string, () => Posted][] = [
  ['whose body was changed', () => tampered((body) => body.replace('A sample task', 'B sample task'))],
  ['whose body has one more byte', () => tampered((body) => `${body}\n`)],
  ['that is signed with another secret', () => delivery({ key: 'another secret' })],
  ['that is signed with two other secrets', () => delivery({ key: 'another secret', previousKey: 'a third secret' })],
  ['that is not signed', () => withSignature(() => undefined)],
  ['whose signature is empty', () => withSignature(() => '')],
  ['whose signature is cut', () => withSignature((signature) => signature.slice(0, -1))],
  ['whose signature has no name', () => withSignature((signature) => signature.slice('sha256='.length))],
  ['whose signature is not ASCII', () => withSignature(() => `sha256=${'\u00fc'.repeat(64)}`)],
  ['that is too old', () => delivery({ sentAt: Date.now() - minutes(6) })],
  ['that is from the future', () => delivery({ sentAt: Date.now() + minutes(6) })],
  [
    'that is too old under a fresh header',
    () => {
      const old = delivery({ sentAt: Date.now() - minutes(6) });
      const { 'X-Service-Timestamp': fresh = '' } = delivery().headers;
      return { ...old, headers: { ...old.headers, 'X-Service-Timestamp': fresh, 'webhook-timestamp': fresh } };
    },
  ],
  ['that is not JSON', () => signedAs(() => '{"event":')],
  ['that is null', () => signedAs(() => 'null')],
  ['that is empty', () => signedAs(() => '')],
  ['that has no timestamp', () => signedAs((body) => JSON.stringify({ ...JSON.parse(body), timestamp: undefined }))],
  ['whose timestamp is no time', () => signedAs((body) => JSON.stringify({ ...JSON.parse(body), timestamp: 'now' }))],
];

describe.each(languages)('the receiver in $name', (language) => {
  const missing = whyMissing(language);
  let start: Program | undefined;
  let running: Started | undefined;

  beforeAll(() => {
    // The short report counts skipped tests without their reason.
    if (missing) return console.warn(missing);
    start = programIn(language);
    running = start(secret);
  }, 300_000);

  afterAll(() => running?.stop());

  /** Returns the running receiver and a function that posts to it, or skips the test with the reason. */
  async function receiver({ skip }: TestContext) {
    const { line, lines } = running ?? skip(missing);
    const url = (await line('listening on ')).replace('listening on ', '');
    const post = async ({ body, headers }: Omit<Posted, 'deliveryId'>) =>
      (await fetch(url, { method: 'POST', headers, body, redirect: 'error' })).status;
    const worked = ({ deliveryId }: Posted) => lines.filter((text) => text.includes(deliveryId));
    /** Waits until one more delivery was processed, and so all before it. */
    const settle = async () => {
      const last = delivery();
      expect(await post(last)).toBe(204);
      await line(last.deliveryId);
    };
    return { url, post, worked, line, settle };
  }

  it.for(eventNames)('accepts and processes a genuine delivery: %s', async (event, context) => {
    const { post, line } = await receiver(context);
    const genuine = delivery({ event });
    expect(await post(genuine)).toBe(204);
    expect(await line(genuine.deliveryId)).toContain(`worked on ${genuine.deliveryId}: ${event} of `);
  });

  it('accepts and processes deliveries in the overlap of a rotation, with the old secret and with the new one', async (context) => {
    const { post, line } = await receiver(context);
    for (const keys of [
      { key: 'the next secret', previousKey: secret },
      { key: secret, previousKey: 'the secret before' },
    ]) {
      const genuine = delivery(keys);
      expect(await post(genuine)).toBe(204);
      expect(await line(genuine.deliveryId)).toContain('worked on');
    }
  });

  it('processes a duplicate once, also with a new signature, and accepts it each time', async (context) => {
    const { post, settle, worked } = await receiver(context);
    const first = delivery({ sentAt: Date.now() - minutes(4) });
    const retry = delivery({ deliveryId: first.deliveryId });
    for (const each of [first, first, retry]) expect(await post(each)).toBe(204);
    await settle();
    expect(worked(first)).toHaveLength(1);
  });

  it.for(rejected)('rejects a delivery %s', async ([, make], context) => {
    const { post, settle, worked } = await receiver(context);
    const posted = make();
    expect([400, 401]).toContain(await post(posted));
    await settle();
    expect(worked(posted)).toEqual([]);
  });

  it('rejects a body that is too long, also with a right signature', async (context) => {
    const { post, settle, worked } = await receiver(context);
    const long = signedAs((body) => body + ' '.repeat(2 * 1024 * 1024));
    // A receiver that stops reading may close the connection before its answer is read.
    expect([413, 'closed']).toContain(await post(long).catch(() => 'closed'));
    await settle();
    expect(worked(long)).toEqual([]);
  });

  it('continues after a connection breaks in the middle of a body', async (context) => {
    const { url, settle } = await receiver(context);
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.end('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"event":');
    await once(socket.resume(), 'close');
    await expect(settle()).resolves.toBeUndefined();
  });

  it('does not start without a secret', async (context) => {
    await receiver(context);
    const { code, complaint } = (await start?.('').ended) ?? {};
    expect(code).not.toBe(0);
    expect(complaint).toContain('Set WEBHOOK_SECRET');
  });
});
