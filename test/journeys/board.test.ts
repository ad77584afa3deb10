import { expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';
import { createTask, newToken } from './stories.ts';

const { api, ...rest } = await startDeployment();
const service = { api, ...rest };
const tasks = '/api/kanban-tasks';

it('carries a task from the board’s one end to the other', async () => {
  const first = await createTask(service, 'Design');
  const body = { title: 'Build', priority: 'high', projectId: 'proj_x', dependsOn: [first] };
  const created = await api('POST', tasks, { body });
  expect([created.status, Object.keys(created.body.data)]).toEqual([
    201,
    ['id', 'title', 'status', 'priority', 'createdAt'],
  ]);
  const path = `${tasks}/${created.body.data.id}`;
  const read = await api('GET', path);
  const reference = { id: first, title: 'Design', status: 'backlog' };
  expect(read.body.data).toMatchObject({ title: 'Build', dependsOn: [reference], blockedBy: [reference] });

  const stale = await api('PATCH', path, { body: { status: 'done' }, headers: { 'If-Match': '"0"' } });
  expect([stale.status, stale.body.error.code]).toEqual([412, 'precondition_failed']);
  const etag = read.headers.get('etag') as string;
  const moved = await api('PATCH', path, { body: { status: 'done' }, headers: { 'If-Match': etag } });
  expect([moved.status, moved.body.data.status]).toEqual([200, 'done']);
  expect(moved.headers.get('etag')).not.toBe(etag);

  expect((await api('DELETE', `${tasks}/${first}`)).status).toBe(200);
  const freed = await api('GET', path);
  expect(freed.body.data).toMatchObject({ dependsOn: [], blockedBy: [] });
  const deleted = await api('DELETE', path, { headers: { 'If-Match': freed.headers.get('etag') as string } });
  expect([deleted.status, deleted.text]).toEqual([200, '{"success":true}']);
  expect((await api('GET', path)).status).toBe(404);
});

it('refuses to delete what an open task depends on', async () => {
  const first = await createTask(service, 'Foundation');
  await api('POST', tasks, { body: { title: 'House', dependsOn: [first] } });
  const refused = await api('DELETE', `${tasks}/${first}`);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'has_dependents']);
});

it('carries out a create once for all that send the same Idempotency-Key at once', async () => {
  const token = await newToken(service, 'once');
  const sent = { body: { title: 'Once' }, headers: { 'Idempotency-Key': 'k-1' }, token };
  const answers = await Promise.all(Array.from({ length: 8 }, () => api('POST', tasks, sent)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(7);
  expect((await api('GET', tasks, { token })).body.pagination.total).toBe(1);
  const other = await api('POST', tasks, { ...sent, body: { title: 'Another' } });
  expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused']);
});

it('lists every one of 40 tasks at once after its create', async () => {
  const token = await newToken(service, 'prompt');
  for (let total = 1; total <= 40; total++) {
    const created = await api('POST', tasks, { body: { title: `Task ${total}` }, token });
    const { body } = await api<{ id: string }[]>('GET', `${tasks}?limit=1`, { token });
    expect([body.pagination.total, body.data[0]?.id]).toEqual([total, created.body.data.id]);
  }
});

it('pages through all that it counts', async () => {
  const token = await newToken(service, 'pager');
  await Promise.all(
    Array.from({ length: 45 }, (_, at) => api('POST', tasks, { body: { title: `Task ${at}` }, token })),
  );
  const seen: string[] = [];
  for (let offset = 0; offset < 45; offset += 20) {
    const { body } = await api<{ id: string }[]>('GET', `${tasks}?offset=${offset}`, { token });
    expect(body.pagination).toEqual({ limit: 20, offset, total: 45 });
    seen.push(...body.data.map(({ id }) => id));
  }
  expect(seen).toEqual([...new Set(seen)].sort().reverse());
  expect(seen).toHaveLength(45);
});

it('asks for a live token', async () => {
  const { token: own } = rest;
  const mistyped = `${own.slice(0, -1)}${own.endsWith('x') ? 'y' : 'x'}`;
  for (const token of ['', 'crew_nonsense', mistyped]) {
    const { status, headers, body } = await api('GET', tasks, { token });
    expect([status, body.error.code, headers.get('www-authenticate')]).toEqual([401, 'unauthorized', 'Bearer']);
  }
});
