import { expect, it } from 'vitest';
import { paginationOf, statusAndCodeOf } from '../api.ts';
import { run, startDeployment } from './deployment.ts';
import { newToken } from './requests.ts';

// A limit of 1 allows the next request a minute later, however slow this machine is.
const service = await startDeployment({ environment: { REQUESTS_PER_MINUTE: '1' } });
const { api } = service;
const settings = (...args: string[]) =>
  run(['infra/cli/main.ts', 'settings', 'set', ...args], { CREWBOARD_DATA: service.dataFolder });

it('a response over the limit says when to retry, and another organization is served', async () => {
  const [limited, other] = [await newToken(service, 'limited'), await newToken(service, 'other')];
  const body = { title: 'The first task' };
  const first = await api.createTask({ token: limited, body });
  expect(first.status).toBe(201);
  expect(first.headers['RateLimit-Policy']).toBe('"requests";q=1;w=60');
  expect(first.headers.RateLimit).toBe('"requests";r=0;t=60');

  const refused = await api.createTask({ token: limited, body });
  expect(statusAndCodeOf(refused)).toEqual([429, 'rate_limited']);
  const wait = Number(refused.headers['Retry-After']);
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  expect(refused.headers.RateLimit).toBe(`"requests";r=0;t=${wait}`);

  expect(paginationOf(await api.listTasks({ token: other })).total).toBe(0);
});

it('an operator sets the limits of one organization', async () => {
  const token = await newToken(service, 'grown');
  const { code } = await settings('--org', 'grown', '--requests-per-minute', '6000', '--executions-per-minute', '1');
  expect(code).toBe(0);
  const start = () => api.executeAgent({ params: { name: 'qa-reviewer' }, token, body: { input: 'Look at it.' } });
  // At most one of the three falls into another minute of the clock.
  const answers = [await start(), await start(), await start()];
  expect(answers[0]?.status).toBe(200);
  expect(answers[0]?.headers['RateLimit-Policy']).toBe('"requests";q=6000;w=60');
  const refused = answers.find(({ status }) => status === 429);
  expect(refused && statusAndCodeOf(refused)).toEqual([429, 'rate_limited']);
  expect(refused?.headers['RateLimit-Policy']).toBe('"executions";q=1;w=60');
  expect(refused?.headers.RateLimit).toBe(`"executions";r=0;t=${refused?.headers['Retry-After']}`);
});
