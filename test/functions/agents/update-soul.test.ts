import { beforeEach, describe, expect, it } from 'vitest';
import { agentOf, atOnce, openRegistries, type Registry } from './registry.ts';

const { newRegistry } = await openRegistries();
let registry: Registry;
beforeEach(async () => {
  registry = await newRegistry();
  await registry.put({ systemPrompt: 'Write.', soul: 'Kind.' });
});

describe('another soul', () => {
  it('is answered as a read answers it afterwards, and changes nothing else', async () => {
    const before = agentOf(await registry.get('writer'));
    const answer = await registry.updateSoul('writer', { soul: ' \u0000 ' });
    const read = await registry.get('writer');
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).toBe(JSON.stringify(read.body));
    const { updatedAt } = agentOf(read);
    expect(agentOf(read)).toEqual({ ...before, soul: ' \u0000 ', updatedAt });
    expect([answer.headers.ETag, read.headers.ETag]).toEqual(['"2"', '"2"']);
  });

  it.each(['', 'Write.'])('may be %j', async (soul) => {
    await registry.updateSoul('writer', { soul });
    expect(agentOf(await registry.get('writer'))).toMatchObject({ soul, systemPrompt: 'Write.' });
  });

  it('that it has already writes nothing', async () => {
    const [before, read] = [await registry.dump(), await registry.get('writer')];
    const answer = await registry.updateSoul('writer', { soul: 'Kind.' });
    expect([answer.status, answer.body, answer.headers.ETag]).toEqual([200, read.body, '"1"']);
    expect(await registry.dump()).toEqual(before);
  });

  it('may be given to a system agent', async () => {
    expect(agentOf(await registry.updateSoul('qa-reviewer', { soul: 'Strict.' }))).toMatchObject({ soul: 'Strict.' });
  });

  it('given by ten at once is one of theirs, and the version counts each', async () => {
    const answers = await atOnce(10, (nth) => registry.updateSoul('writer', { soul: `Soul ${nth}` }));
    expect(answers.map((answer) => agentOf(answer).soul)).toEqual(answers.map((_, nth) => `Soul ${nth}`));
    const read = await registry.get('writer');
    const [last] = answers.filter(({ headers }) => headers.ETag === '"11"');
    expect([read.headers.ETag, read.body]).toEqual(['"11"', last?.body]);
  });
});

describe('another soul is refused', () => {
  it.each([
    ['no body', undefined, { path: 'soul', code: 'required' }],
    ['none', {}, { path: 'soul', code: 'required' }],
    ['null', { soul: null }, { path: 'soul', code: 'invalid_type' }],
    ['too long a one', { soul: 'x'.repeat(50_001) }, { path: 'soul', code: 'invalid_value' }],
    ['a read-only field beside it', { soul: 'x', name: 'writer' }, { path: 'name', code: 'read_only' }],
    [
      'what is changed elsewhere',
      { soul: 'x', systemPrompt: 'y' },
      { path: 'systemPrompt', code: 'read_only', message: 'systemPrompt cannot be set here; leave it out' },
    ],
    // Answers have it, so it is told that it cannot be set here.
    ['a prompt beside it', { soul: 'x', systemPrompt: 'x' }, { path: 'systemPrompt' }],
    ['an unknown field beside it', { soul: 'x', souls: 'x' }, { path: 'souls', code: 'unknown_field' }],
  ])('with 400 validation_failed for %s', async (_, body, fault) => {
    const send = () => registry.updateSoul('writer', body);
    expect((await registry.refuses(send, 400, 'validation_failed')).details).toMatchObject([fault]);
  });

  it('with 404 for nobody, for an impossible name, and for an agent of others', async () => {
    const other = await newRegistry();
    const soul = { soul: 'x' };
    for (const name of ['nobody', 'WRITER']) {
      await registry.refuses(() => registry.updateSoul(name, soul), 404, 'not_found');
      await other.refuses(() => other.updateSoul('writer', soul), 404, 'not_found');
    }
  });

  it('with 401 and 403 where the token is none, or may only read', async () => {
    const reader = await newRegistry(['agents:read', 'agents:execute']);
    await reader.refuses(() => reader.updateSoul('qa-reviewer', {}, { token: '' }), 401, 'unauthorized');
    await reader.refuses(() => reader.updateSoul('qa-reviewer', {}), 403, 'insufficient_scope');
  });
});
