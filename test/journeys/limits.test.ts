import { expect, it } from 'vitest';
import { openClient } from '../../lib/client/client.ts';
import { run, startDeployment } from './deployment.ts';
import { newToken } from './stories.ts';

// A limit of 1 gives the next request a minute later, however slow this machine is.
const service = await startDeployment({ environment: { REQUESTS_PER_MINUTE: '1' } });
const settings = (...args: string[]) =>
  run(['infra/cli/main.ts', 'settings', 'set', ...args], { CREWBOARD_DATA: service.dataFolder });

const tasks = '/api/kanban-tasks';

it('an organization beyond its limit is told when to come again, while another is served', async () => {
  const [limited, other] = [await newToken(service, 'limited'), await newToken(service, 'other')];
  const body = { title: 'The first task' };
  const first = await service.api('POST', tasks, { token: limited, body });
  expect(first.status).toBe(201);
  expect(first.headers.get('RateLimit-Policy')).toBe('"requests";q=1;w=60');
  expect(first.headers.get('RateLimit')).toBe('"requests";r=0;t=60');

  const refused = await service.api('POST', tasks, { token: limited, body });
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
  const wait = Number(refused.headers.get('Retry-After'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  expect(refused.headers.get('RateLimit')).toBe(`"requests";r=0;t=${wait}`);

  expect((await service.api('GET', tasks, { token: other })).body.pagination.total).toBe(0);
});

it('the client waits as long as it is told before it tries again', async () => {
  const token = await newToken(service, 'patient');
  await service.api('GET', tasks, { token });
  const waits: number[] = [];
  const client = openClient({ url: service.url, token, tries: 2, wait: async (ms) => void waits.push(ms) });
  await expect(client.updateTask({ params: { id: 'tk_01K00000000000000000000000' } })).rejects.toMatchObject({
    code: 'rate_limited',
  });
  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeGreaterThanOrEqual(1_000);
});

it('an operator gives an organization more requests, and fewer executions', async () => {
  const token = await newToken(service, 'grown');
  expect((await settings('--org', 'grown', '--requests-per-minute', '6000', '--executions-per-minute', '1')).code).toBe(
    0,
  );
  const start = () => service.api('POST', '/api/agents/qa-reviewer/execute', { token, body: { input: 'Look at it.' } });
  // At most one of the three falls into another minute of the clock.
  const answers = [await start(), await start(), await start()];
  expect(answers[0]?.status).toBe(200);
  expect(answers[0]?.headers.get('RateLimit-Policy')).toBe('"requests";q=6000;w=60');
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body.error.code).toBe('rate_limited');
  expect(refused?.headers.get('RateLimit-Policy')).toBe('"executions";q=1;w=60');
  expect(refused?.headers.get('RateLimit')).toBe(`"executions";r=0;t=${refused?.headers.get('Retry-After')}`);
});
