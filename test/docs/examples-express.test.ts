import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EventName, eventNames } from '../../lib/contract/events.ts';
import { until } from '../journeys/deployment.ts';
import { delivery, minutes, type Posted, secret } from './posted.ts';
import { type Started, startReceiver } from './receiver-program.ts';

const command = [process.execPath, 'docs/examples/express-receiver.ts'];
let receiver: Started;
let withoutSecret: Started;
let url: string;

/** A service without executions. */
const service = createServer((_, response) => {
  const error = { code: 'not_found', message: 'There is no such execution.', requestId: 'r-1' };
  response.writeHead(404, { 'Content-Type': 'application/json' }).end(JSON.stringify({ success: false, error }));
});

// Not at collection: if all tests are skipped, nothing would stop them.
beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as AddressInfo;
  const toService = { CREWBOARD_URL: `http://127.0.0.1:${port}`, CREWBOARD_TOKEN: 'none' };
  withoutSecret = startReceiver(command, { ...toService, WEBHOOK_SECRET: '' });
  receiver = startReceiver(command, { ...toService, WEBHOOK_SECRET: secret });
  url = (await receiver.line('listening on ')).replace('listening on ', '');
}, 60_000);

afterAll(async () => {
  await receiver.stop();
  service.close();
});

async function post({ body, headers }: Omit<Posted, 'deliveryId'>): Promise<number> {
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

/** Returns a delivery of a new task, whose title identifies its printed lines. */
function ofTask(title: string, more: Parameters<typeof delivery>[0] = {}): Posted {
  return delivery({ event: 'task.completed', change: (body) => body.replace('A sample task', title), ...more });
}

/** Returns all printed lines, after one more delivery was processed. */
async function printed(): Promise<string[]> {
  const last = randomUUID();
  expect(await post(ofTask(last))).toBe(202);
  await receiver.line(last);
  return receiver.lines;
}

it.each(eventNames.filter((event) => event !== 'agent.completed'))('takes a genuine delivery: %s', async (event) => {
  expect(await post(delivery({ event }))).toBe(202);
  const done: Partial<Record<EventName, string>> = {
    'task.status_changed': 'A sample task: assigned → in_progress',
    'task.completed': 'A sample task is done',
    'agent.failed': 'sample-agent failed: The model did not answer.',
  };
  expect(await printed()).toContain(done[event] ?? `nothing to do for ${event}`);
});

it('processes a duplicate once, also with a new signature', async () => {
  const first = ofTask('Twice', { sentAt: Date.now() - minutes(4) });
  const retry = ofTask('Twice', { deliveryId: first.deliveryId });
  for (const each of [first, first, retry]) expect(await post(each)).toBe(202);
  expect((await printed()).filter((line) => line === 'Twice is done')).toHaveLength(1);
});

it('rejects a forged delivery and an empty one, and does nothing', async () => {
  const forged = ofTask('Refused', { key: 'another secret' });
  for (const each of [forged, { ...ofTask('Refused'), body: '' }]) expect(await post(each)).toBe(401);
  expect((await printed()).filter((line) => line.includes('Refused'))).toEqual([]);
});

it('rejects a body that is too long', async () => {
  const { headers, ...long } = delivery();
  expect(await post({ headers, body: long.body + ' '.repeat(2 * 1024 * 1024) })).toBe(413);
});

it('reports failed work, and continues', async () => {
  const failing = delivery({ event: 'agent.completed' });
  expect(await post(failing)).toBe(202);
  await until('it says so', () => receiver.complaint().includes(`${failing.deliveryId} failed: CrewboardError`));
  expect(await printed()).not.toEqual([]);
});

it('does not start without a secret', async () => {
  const { code, complaint } = await withoutSecret.ended;
  expect(code).not.toBe(0);
  expect(complaint).toContain('Set WEBHOOK_SECRET');
});
