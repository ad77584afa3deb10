import { expect, it } from 'vitest';
import { until } from '../../journeys/deployment.ts';
import { type Started, startReceiver } from '../receiving-webhooks/receiver-program.ts';
import { describeReceiver } from './example-receivers.ts';
import { delivery } from './posted.ts';

const { PYTHON } = process.env;
if (!PYTHON) throw new Error('Run this file by npm run test:python, which installs FastAPI.');

const start = (secret: string) =>
  startReceiver([PYTHON, 'docs/examples/fastapi_receiver.py'], { WEBHOOK_SECRET: secret });

/** Returns the URL of a receiver, whose address Uvicorn prints. */
const urlOf = async ({ complaint }: Started) => {
  const address = await until('it listens', () => /running on (http:\S+)/.exec(complaint())?.[1]);
  return `${address}/crewboard`;
};

describeReceiver('FastAPI', { start, urlOf, accepted: 204 }, ({ post, printed }) => {
  it.each([
    ['agent.failed', 'sample-agent failed: The model did not answer.'],
    ['task.created', 'nothing to do for task.created'],
  ] as const)('works by the event: %s', async (event, line) => {
    expect(await post(delivery({ event }))).toBe(204);
    expect(await printed()).toContain(line);
  });

  it.each([
    ['that is not JSON', () => '{"event":'],
    ['that is null', () => 'null'],
    ['without a timestamp', (body: string) => JSON.stringify({ ...JSON.parse(body), timestamp: undefined })],
    ['without a time', (body: string) => JSON.stringify({ ...JSON.parse(body), timestamp: 'now' })],
  ])('rejects a signed body %s', async (_, change) => {
    expect(await post(delivery({ change }))).toBe(400);
  });

  it('does not start without a secret', async () => {
    const { code, complaint } = await start('').ended;
    expect(code).not.toBe(0);
    expect(complaint).toContain('Set WEBHOOK_SECRET');
  });
});
