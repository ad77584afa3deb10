import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Started } from '../receiving-webhooks/receiver-program.ts';
import { delivery, minutes, type Posted, secret } from './posted.ts';

/** An example of a receiver: how it is started, and what it responds to a genuine delivery. */
type Example = {
  start: (secret: string) => Started;
  /** Returns the URL of a started receiver; by default from the line that it prints. */
  urlOf?: (started: Started) => Promise<string>;
  accepted: 202 | 204;
};

/** A running receiver. */
type Running = {
  /** Posts a delivery, and returns the status of the response. */
  post: (posted: Pick<Posted, 'body' | 'headers'>) => Promise<number>;
  /** Returns all printed lines, after one more delivery was processed. */
  printed: () => Promise<string[]>;
  /** Returns what the receiver has printed on standard error. */
  complaint: () => string;
};

/** Returns a delivery of a completed task, whose title identifies its printed lines. */
function ofTask(title: string, more: Parameters<typeof delivery>[0] = {}): Posted {
  return delivery({ event: 'task.completed', change: (body) => body.replace('A sample task', title), ...more });
}

const printedUrl = async ({ line }: Started) => (await line('listening on ')).replace('listening on ', '');

/**
 * Tests what all examples of receivers have in common, over real sockets. An example prints a line with the title of each
 * task that it has worked on.
 *
 * @param more defines further tests of the example
 */
export function describeReceiver(
  name: string,
  { start, urlOf = printedUrl, accepted }: Example,
  more: (running: Running) => void = () => {},
): void {
  let receiver: Started;
  let url: string;

  const post: Running['post'] = (posted) => postTo(url, posted);

  async function printed(): Promise<string[]> {
    const last = randomUUID();
    expect(await post(ofTask(last))).toBe(accepted);
    await receiver.line(last);
    return receiver.lines;
  }

  const linesWith = async (text: string) => (await printed()).filter((line) => line.includes(text));

  describe(`the receiver with ${name}`, () => {
    // Not at collection: if all tests are skipped, nothing would stop it.
    beforeAll(async () => {
      receiver = start(secret);
      url = await urlOf(receiver);
    }, 60_000);

    afterAll(() => receiver?.stop());

    it('works on a genuine delivery, also in the overlap of a rotation', async () => {
      for (const keys of [{}, { previousKey: 'the former secret' }, { key: 'the next secret', previousKey: secret }]) {
        const title = randomUUID();
        expect(await post(ofTask(title, keys))).toBe(accepted);
        expect(await linesWith(title)).toHaveLength(1);
      }
    });

    it('works on a duplicate once, also with a new signature', async () => {
      const first = ofTask('Twice', { sentAt: Date.now() - minutes(4) });
      const retry = ofTask('Twice', { deliveryId: first.deliveryId });
      for (const each of [first, first, retry]) expect(await post(each)).toBe(accepted);
      expect(await linesWith('Twice')).toHaveLength(1);
    });

    it('rejects forged, unsigned, empty and old deliveries, and does nothing', async () => {
      const { 'X-Service-Signature': _, ...unsigned } = ofTask('Rejected').headers;
      for (const each of [
        ofTask('Rejected', { key: 'another secret' }),
        { ...ofTask('Rejected'), headers: unsigned },
        { ...ofTask('Rejected'), body: '' },
        ofTask('Rejected', { sentAt: Date.now() - minutes(6) }),
      ])
        expect(await post(each)).toBe(401);
      expect(await linesWith('Rejected')).toEqual([]);
    });

    it('rejects a body that is too long, also with a right signature', async () => {
      const long = ofTask('Long', { change: (body) => body + ' '.repeat(2 * 1024 * 1024) });
      // A receiver that stops reading may close the connection before its response is read.
      expect([413, 'closed']).toContain(await post(long).catch(() => 'closed'));
      expect(await printed()).not.toEqual([]);
    });

    more({ post, printed, complaint: () => receiver.complaint() });
  });
}

/** Posts a delivery on a connection of its own, as the service does, and returns the status of the response. */
export function postTo(url: string, { body, headers }: Pick<Posted, 'body' | 'headers'>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
      resolve(response.statusCode as number);
      response.resume();
    });
    sent.on('error', reject).end(body);
  });
}
