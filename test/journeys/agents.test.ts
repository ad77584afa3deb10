import { expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';

const { url, token, api } = await startDeployment();
const agents = '/api/agents';

/** What a test reads of an agent. */
type Agent = { id: string; name: string; systemPrompt: string; soul: string; status: string };

it('lets a newcomer hire an agent, teach it, and let it go', async () => {
  const first = await fetch(`${url}${agents}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'release-writer', displayName: 'Release writer', category: 'development' }),
  });
  expect(first.status).toBe(201);
  const { data: created } = (await first.json()) as { data: Agent };
  expect(Object.keys(created)).toEqual(['id', 'name', 'displayName', 'createdAt']);

  const path = `${agents}/release-writer`;
  const read = await api<Agent>('GET', path);
  expect(read.body.data).toMatchObject({ id: created.id, systemPrompt: '', soul: '', status: 'active' });
  const etag = read.headers.get('etag') as string;
  const body = { systemPrompt: 'Write release notes.', status: 'draft' };
  const changed = await api<Agent>('PATCH', path, { body, headers: { 'If-Match': etag } });
  expect([changed.status, changed.body.data]).toMatchObject([200, body]);
  const late = await api('PATCH', path, { body: { status: 'inactive' }, headers: { 'If-Match': etag } });
  expect([late.status, late.body.error.code]).toEqual([412, 'precondition_failed']);
  const souled = await api<Agent>('PATCH', `${path}/soul`, { body: { soul: 'Plain words.' } });
  expect([souled.status, souled.body.data]).toMatchObject([200, { ...body, soul: 'Plain words.' }]);

  const catalogue = await api<{ id: string }[]>('GET', `${agents}/skills`);
  const skillId = catalogue.body.data.find(({ id }) => id === 'sk_release-notes')?.id;
  const assigned = await api('POST', `${path}/skills`, { body: { skillId } });
  expect([assigned.status, assigned.text]).toEqual([201, '{"success":true}']);
  const skills = await api<{ id: string }[]>('GET', `${path}/skills`);
  expect(skills.body.data.map(({ id }) => id)).toEqual([skillId]);
  expect((await api('DELETE', `${path}/skills/${skillId}`)).text).toBe('{"success":true}');
  expect((await api('GET', `${path}/skills`)).body.data).toEqual([]);

  const found = await api<Agent[]>('GET', `${agents}?search=${encodeURIComponent('WRITER rel')}&status=draft`);
  expect(found.body.data.map(({ name }) => name)).toEqual(['release-writer']);
  expect(found.body.data[0]).not.toHaveProperty('systemPrompt');
  expect(found.body.pagination).toEqual({ limit: 20, offset: 0, total: 1 });

  const namesake = { name: 'release-writer', displayName: 'Another', category: 'qa' };
  const taken = await api('POST', agents, { body: namesake });
  expect([taken.status, taken.body.error.code]).toEqual([409, 'name_taken']);
  expect((await api('DELETE', path)).text).toBe('{"success":true}');
  expect((await api('GET', path)).status).toBe(404);
  const left = await api<Agent[]>('GET', agents);
  expect(left.body.data.map(({ name }) => name).sort()).toEqual(['prompt-improver', 'qa-reviewer']);
  const kept = await api('DELETE', `${agents}/qa-reviewer`);
  expect([kept.status, kept.body.error.code]).toEqual([403, 'system_agent']);
});
