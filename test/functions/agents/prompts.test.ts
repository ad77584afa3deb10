import { beforeEach, describe, expect, it } from 'vitest';
import type { Prompt, PromptListItem } from '../../../lib/contract/agents/prompts.ts';
import { hashOf } from '../../../lib/table/agents/agent-items.ts';
import { dataOf, paginationOf, type Request, statusAndCodeOf, tagOf, versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { agentOf, createTestAgents } from './test-agents.ts';

const { newAgentsApi } = await createTestAgents();
const api = newForEachTest(newAgentsApi);
beforeEach(async () => {
  await api.put({ systemPrompt: 'Write.', soul: 'Kind.' });
});

const list = (query = '') => api.listPrompts({ params: { name: 'writer' }, query });
const listed = async (query = '') => dataOf<PromptListItem[]>(await list(query));
const get = (hash: string) => api.getPrompt({ params: { name: 'writer', hash } });
const restore = (text: string, more: Request = {}) =>
  api.restorePrompt({ params: { name: 'writer', hash: hashOf(text) }, ...more });
const writer = async () => agentOf(await api.get('writer'));
const update = (systemPrompt: string) => api.update('writer', { systemPrompt });

describe('the prompts of an agent', () => {
  it('are listed newest first, each with its version, its time and its source, and without texts', async () => {
    const { createdAt } = await writer();
    await api.setSoul('writer', { soul: 'Calm.' });
    await update('Read.');
    const { updatedAt } = await writer();
    const answer = await list();
    expect([answer.status, paginationOf(answer)]).toEqual([200, { limit: 20, offset: 0, total: 2 }]);
    expect(dataOf(answer)).toEqual([
      { hash: hashOf('Read.'), version: 3, createdAt: updatedAt, source: 'update' },
      { hash: hashOf('Write.'), version: 1, createdAt, source: 'create' },
    ]);
  });

  it('are paged with their exact total', async () => {
    for (const text of ['B.', 'C.', 'D.', 'E.']) await update(text);
    const all = await listed();
    expect(all.map(({ hash }) => hash)).toEqual(['E.', 'D.', 'C.', 'B.', 'Write.'].map(hashOf));
    const page = await list('limit=2&offset=3');
    expect([dataOf(page), paginationOf(page)]).toEqual([all.slice(3), { limit: 2, offset: 3, total: 5 }]);
    expect(await listed('offset=5')).toEqual([]);
  });

  it('are read with their texts', async () => {
    await update('');
    const [empty, first] = (await listed()) as [PromptListItem, PromptListItem];
    expect(dataOf<Prompt>(await get(first.hash))).toEqual({ ...first, systemPrompt: 'Write.' });
    expect(dataOf<Prompt>(await get(empty.hash))).toEqual({ ...empty, systemPrompt: '' });
  });

  it('do not have texts that never were a prompt, such as the soul and former souls: 404', async () => {
    await api.setSoul('writer', { soul: 'Calm.' });
    for (const text of ['Calm.', 'Kind.', '', 'Other.']) {
      await api.refuses(() => get(hashOf(text)), 404, 'not_found');
      await api.refuses(() => restore(text), 404, 'not_found');
    }
  });
});

describe('a restored prompt', () => {
  beforeEach(async () => void (await update('Read.')));

  it('is the prompt of the agent in a new version, whose other fields stay', async () => {
    const before = await writer();
    const answer = await restore('Write.');
    const { updatedAt } = await writer();
    expect([answer.status, versionOf(answer)]).toEqual([200, 3]);
    expect(agentOf(answer)).toEqual({ ...before, systemPrompt: 'Write.', updatedAt });
    expect(await writer()).toEqual(agentOf(answer));
    expect((await listed())[0]).toEqual({
      ...{ hash: hashOf('Write.'), version: 3, createdAt: updatedAt, source: 'restore' },
      changesSummary: 'Restores the prompt of version 1.',
    });
    expect(dataOf(await get(hashOf('Write.')))).toMatchObject({ version: 3, source: 'restore' });
  });

  it('changes nothing if it is the current one: 200', async () => {
    const [before, read] = [await api.dump(), await api.get('writer')];
    const answer = await restore('Read.');
    expect([answer.status, answer.body, versionOf(answer)]).toEqual([200, read.body, 2]);
    expect(await api.dump()).toEqual(before);
  });

  it('needs the version of If-Match, also if it is the current one: 412', async () => {
    const read = await api.get('writer');
    for (const ifMatch of [tagOf(read, 1), tagOf(read, 3), 'garbage'])
      for (const text of ['Write.', 'Read.'])
        await api.refuses(() => restore(text, { headers: { 'If-Match': ifMatch } }), 412, 'precondition_failed');
    const answers = [];
    for (const text of ['Write.', 'Read.'])
      answers.push(await restore(text, { headers: { 'If-Match': tagOf(read, 2) } }));
    expect(answers.map(statusAndCodeOf)).toEqual([
      [200, undefined],
      [412, 'precondition_failed'],
    ]);
    const unknown = restore('Other.', { headers: { 'If-Match': tagOf(read, 1) } });
    expect(statusAndCodeOf(await unknown)).toEqual([404, 'not_found']);
  });

  it('is recorded under its Idempotency-Key, also if it is the current one', async () => {
    for (const text of ['Write.', 'Write.']) {
      const key = `${(await listed()).length}`;
      const first = await restore(text, { headers: { 'Idempotency-Key': key } });
      await update('Later.');
      const again = await restore(text, { headers: { 'Idempotency-Key': key } });
      expect([again.status, again.body, again.headers.ETag]).toEqual([200, first.body, first.headers.ETag]);
      expect((await writer()).systemPrompt).toBe('Later.');
      await restore('Write.');
    }
  });

  it('is recorded whole if the agent is larger than an item of the table, also after the agent is deleted', async () => {
    const [systemPrompt, soul] = ['😀'.repeat(50_000), '😁'.repeat(50_000)];
    await update(systemPrompt);
    await api.setSoul('writer', { soul });
    await api.update('writer', { systemPrompt: 'Read.', description: '🤣'.repeat(10_000) });
    const headers = { 'Idempotency-Key': 'large' };
    const first = await restore(systemPrompt, { headers });
    expect([first.status, agentOf(first)]).toMatchObject([200, { systemPrompt, soul }]);
    await api.delete('writer');
    const again = await restore(systemPrompt, { headers });
    expect(again.headers['Idempotency-Replayed']).toBe('true');
    expect([again.status, again.headers.ETag]).toEqual([200, first.headers.ETag]);
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
  });
});
