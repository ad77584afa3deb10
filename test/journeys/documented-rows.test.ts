import { expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';
import { createTask, register } from './stories.ts';

type Row = { operationId: string; tags: [string]; responses: Record<string, unknown> };

const service = await startDeployment();
const document = JSON.parse((await service.api('GET', '/openapi.json')).text) as {
  paths: Record<string, Record<string, Row>>;
};
const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, row]) => ({ method: method.toUpperCase(), path, row })),
);

/** The path of a row, of things that there are. */
async function pathOf(path: string, row: Row): Promise<string> {
  const made: Record<string, () => Promise<string>> = {
    'kanban-tasks': () => createTask(service, 'Asked for'),
    webhooks: () => register(service, { url: 'https://example.com/hooks', events: ['agent.failed'] }),
  };
  const id = path.includes('{id}') ? ((await made[row.tags[0]]?.()) ?? 'ex_01K00000000000000000000000') : '';
  return path.replace('{id}', id).replace('{name}', 'qa-reviewer').replace('{skillId}', 'sk_none');
}

it('documents the paths that it serves', () => {
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining([
      '/api/kanban-tasks',
      '/api/kanban-tasks/{id}',
      '/api/webhooks/register',
      '/api/webhooks',
      '/api/webhooks/{id}',
      '/api/webhooks/{id}/test',
      '/api/webhooks/{id}/deliveries',
    ]),
  );
});

it.each(rows)('serves $method $path as the document says', async ({ method, path, row }) => {
  const asked = await pathOf(path, row);
  const { status, body, headers } = await service.api(method, asked, method === 'GET' ? {} : { body: {} });
  expect(Object.keys(row.responses)).toContain(String(status));
  expect(status).toBeLessThan(500);
  expect(body.error?.message ?? '').not.toMatch(/no such path/);
  expect(headers.get('x-request-id')).toMatch(/^\S+$/);
});

it.each(rows.filter(({ path }) => path.startsWith('/api/')))(
  'answers 401 to $method $path without a token',
  async ({ method, path, row }) => {
    const answer = await service.api(method, await pathOf(path, row), { token: '' });
    expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
  },
);
