import { expect, it } from 'vitest';
import { endpoints } from '../../lib/contract/endpoints.ts';
import { errorOf } from '../api.ts';
import { sendRequest } from '../api-over-http.ts';
import { startDeployment } from './deployment.ts';
import { createTask, register } from './requests.ts';

type Row = { operationId: string; tags: [string]; responses: Record<string, unknown> };

const { url, token, ...service } = await startDeployment();
const document = (await service.api.openapi()).body as unknown as { paths: Record<string, Record<string, Row>> };
const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, row]) => ({ method: method.toUpperCase(), path, row })),
);

/** Fills in a path with the ids of things that exist. */
async function filledIn(path: string, row: Row): Promise<string> {
  const create: Record<string, () => Promise<string>> = {
    'kanban-tasks': () => createTask(service, 'A task'),
    webhooks: () => register(service, { url: 'https://example.com/hooks', events: ['agent.failed'] }),
  };
  const id = path.includes('{id}') ? ((await create[row.tags[0]]?.()) ?? 'ex_01K00000000000000000000000') : '';
  return path.replace('{id}', id).replace('{name}', 'qa-reviewer').replace('{skillId}', 'sk_none');
}

it('the served document has every operation of the contract', () => {
  expect(rows.map(({ row }) => row.operationId).sort()).toEqual(Object.keys(endpoints).sort());
});

it.each(rows)('serves $method $path as the document says', async ({ method, path, row }) => {
  const request = { method, path: await filledIn(path, row), token, ...(method !== 'GET' && { body: {} }) };
  const answer = await sendRequest(url, request);
  expect(Object.keys(row.responses)).toContain(String(answer.status));
  expect(answer.status).toBeLessThan(500);
  expect(errorOf(answer)?.message ?? '').not.toMatch(/no such path/);
  expect(answer.headers['X-Request-Id']).toMatch(/^\S+$/);
});

it.each(rows.filter(({ path }) => path.startsWith('/api/')))(
  'responds with 401 to $method $path without a token',
  async ({ method, path, row }) => {
    const answer = await sendRequest(url, { method, path: await filledIn(path, row) });
    expect([answer.status, errorOf(answer).code]).toEqual([401, 'unauthorized']);
    expect(answer.headers['WWW-Authenticate']).toBe('Bearer');
  },
);
