import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EventName, eventNames } from '../../../lib/contract/webhooks/events.ts';
import { until } from '../../journeys/deployment.ts';
import { startReceiver } from '../receiving-webhooks/receiver-program.ts';
import { describeReceiver } from './example-receivers.ts';
import { delivery } from './posted.ts';

/** A service without executions. */
const service = createServer((_, response) => {
  const error = { code: 'not_found', message: 'There is no such execution.', requestId: 'r-1' };
  response.writeHead(404, { 'Content-Type': 'application/json' }).end(JSON.stringify({ success: false, error }));
});

beforeAll(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)));
afterAll(() => void service.close());

function start(secret: string) {
  const { port } = service.address() as AddressInfo;
  const toService = { CREWBOARD_URL: `http://127.0.0.1:${port}`, CREWBOARD_TOKEN: 'none' };
  return startReceiver([process.execPath, 'docs/examples/express-receiver.ts'], {
    ...toService,
    WEBHOOK_SECRET: secret,
  });
}

describeReceiver('Express', { start, accepted: 202 }, ({ post, printed, complaint }) => {
  it.each(eventNames.filter((event) => event !== 'agent.completed'))('works by the event: %s', async (event) => {
    expect(await post(delivery({ event }))).toBe(202);
    const done: Partial<Record<EventName, string>> = {
      'task.status_changed': 'A sample task: assigned → in_progress',
      'task.completed': 'A sample task is done',
      'agent.failed': 'sample-agent failed: The model did not answer.',
    };
    expect(await printed()).toContain(done[event] ?? `nothing to do for ${event}`);
  });

  it('reports failed work, and continues', async () => {
    const failing = delivery({ event: 'agent.completed' });
    expect(await post(failing)).toBe(202);
    await until('it says so', () => complaint().includes(`${failing.deliveryId} failed: CrewboardError`));
    expect(await printed()).not.toEqual([]);
  });

  it('does not start without a secret', async () => {
    const { code, complaint } = await start('').ended;
    expect(code).not.toBe(0);
    expect(complaint).toContain('Set WEBHOOK_SECRET');
  });
});
