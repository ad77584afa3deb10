import { expect, it } from 'vitest';
import { endpoints } from '../../../lib/contract/endpoints.ts';
import { errorOf } from '../../api.ts';
import { sendRequest } from '../../api-over-http.ts';
import { startDeployment } from '../deployment.ts';
import { createTask, register } from '../requests.ts';

type Row = { operationId: string; responses: Record<string, unknown> };

const { url, token, ...service } = await startDeployment();
const document = (await service.api.openapi()).body as unknown as { paths: Record<string, Record<string, Row>> };
const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, row]) => ({ method: method.toUpperCase(), path, row })),
);

/** Fills in a path with the ids of things that exist. */
async function filledIn(path: string): Promise<string> {
  const create: Record<string, () => Promise<string>> = {
    'kanban-tasks': () => createTask(service, 'A task'),
    webhooks: () => register(service, { url: 'https://example.com/hooks', events: ['agent.failed'] }),
  };
  const id = path.includes('{id}')
    ? ((await create[path.split('/')[2] as string]?.()) ?? 'ex_01K00000000000000000000000')
    : '';
  return path.replace('{id}', id).replace('{name}', 'qa-reviewer').replace('{skillId}', 'sk_none');
}

it('the served document has every operation of the contract but the files of its pages and MCP, a protocol of its own', () => {
  const { docsScript, consoleAsset, mcp, ...documented } = endpoints;
  expect(rows.map(({ row }) => row.operationId).sort()).toEqual(Object.keys(documented).sort());
});

it.each(rows)('serves $method $path as the document says', async ({ method, path, row }) => {
  const request = { method, path: await filledIn(path), token, ...(method !== 'GET' && { body: {} }) };
  const answer = await sendRequest(url, request);
  expect(Object.keys(row.responses)).toContain(String(answer.status));
  expect(answer.status).toBeLessThan(500);
  expect(errorOf(answer)?.message ?? '').not.toMatch(/no such path/);
  expect(answer.headers['X-Request-Id']).toMatch(/^\S+$/);
});
