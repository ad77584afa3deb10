import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { Actor } from '../../../lib/contract/actors.ts';
import type { Agent } from '../../../lib/contract/agents/agents.ts';
import type { HistoryEntry } from '../../../lib/contract/tasks/history.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { hashOf } from '../../../lib/table/agents/agent-items.ts';
import { dataOf, paginationOf, successOf } from '../../api.ts';
import { createCaller, newForEachTest } from '../../caller.ts';
import { newCaller } from '../../service.ts';
import { publish } from '../pipeline/call-functions.ts';
import { createPublisher } from '../pipeline/publish-events/publish-changes.ts';
import { openServiceWithQueues } from '../service-with-queues.ts';
import { newAgent } from './test-agents.ts';

const { service } = await openServiceWithQueues({ DEFAULT_MODEL: 'test.default-model' });
const publishChanges = createPublisher(service);
const name = newAgent.name;

/** Creates an organization, and a caller of the API by its token `Ada`, which is one of a person. */
async function newAgentCaller() {
  const { organization } = await newCaller(processContext());
  const scopes = ['agents:read', 'agents:write', 'agents:execute', 'tasks:read', 'tasks:write'] as const;
  const token = await issueToken(processContext(), { organization, name: 'Ada', person: true, scopes });
  return createCaller(service, organization, token);
}

const caller = newForEachTest(newAgentCaller);
let ada: Actor;
beforeEach(async () => {
  ada = { kind: 'person', name: 'Ada', id: caller.token.slice(5, 17) };
  successOf(await caller.createAgent({ body: { ...newAgent, systemPrompt: 'Write.', capabilities: ['html'] } }));
});

const history = (query = '', of = name) => caller.getAgentHistory({ params: { name: of }, query });

/** Returns the history of an agent, the oldest entry first. */
async function entries(of = name): Promise<HistoryEntry[]> {
  await publishChanges();
  return dataOf<HistoryEntry[]>(await history('limit=100', of)).toReversed();
}

/** Returns the entries that an action adds, without their ids, times and requests. */
async function added(act: () => Promise<unknown>) {
  const before = (await entries()).length;
  await act();
  return (await entries()).slice(before).map(({ id, at, requestId, ...entry }) => entry);
}

const update = async (body: object) => successOf(await caller.updateAgent({ params: { name }, body }));
const changed = (...changes: [field: string, from: unknown, to: unknown][]) => [
  { kind: 'changed', by: ada, changes: changes.map(([field, from, to]) => ({ field, from, to })) },
];

describe('the history of an agent', () => {
  it('begins with its creation, with all fields that are set, and prompts by their hashes', async () => {
    const [entry, ...others] = await entries();
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ id: expect.stringMatching(/^hi_[0-9A-Z]{26}$/), kind: 'created', by: ada });
    expect(Object.fromEntries((entry?.changes ?? []).map(({ field, to }) => [field, to]))).toMatchObject({
      ...{ displayName: 'Writer', category: 'business', model: 'test.default-model', capabilities: ['html'] },
      systemPrompt: hashOf('Write.'),
    });
    expect(JSON.stringify(entry)).not.toContain('Write.');
  });

  it('of a system agent begins with the service', async () => {
    expect(await entries('qa-reviewer')).toMatchObject([
      { kind: 'created', by: { kind: 'service', name: 'Crewboard' } },
    ]);
  });

  it('has an entry for each change, with the request, its time, and the values before and after', async () => {
    const body = { displayName: 'Author', status: 'inactive', capabilities: ['html', 'tasks.write'], autoRetry: 2 };
    const answer = await caller.updateAgent({ params: { name }, body });
    const [, entry] = await entries();
    const { updatedAt: at } = dataOf<Agent>(answer);
    expect(entry).toMatchObject({ at, requestId: answer.headers['X-Request-Id'] });
    expect(entry).toMatchObject(
      changed(
        ['displayName', 'Writer', 'Author'],
        ['capabilities', ['html'], ['html', 'tasks.write']],
        ['status', 'active', 'inactive'],
        ['autoRetry', 0, 2],
      )[0] as object,
    );
    expect(await added(() => update(body))).toEqual([]);
  });

  it('has the fields of automatic starts', async () => {
    expect(
      await added(() => update({ autoRun: true, autoAccept: true, maxRunning: 3, dependencyResults: false })),
    ).toEqual(
      changed(
        ['autoRun', false, true],
        ['maxRunning', 1, 3],
        ['autoAccept', false, true],
        ['dependencyResults', true, false],
      ),
    );
  });

  it('has the limits of executions', async () => {
    expect(await added(() => update({ maxSteps: 5, maxTokens: 1_000 }))).toEqual(
      changed(['maxSteps', null, 5], ['maxTokens', null, 1_000]),
    );
    expect(await added(() => update({ maxSteps: null }))).toEqual(changed(['maxSteps', 5, null]));
  });

  it('names prompts and souls by their hashes, also a restored one', async () => {
    const [former, next] = [hashOf('Write.'), hashOf('Write well.')];
    expect(await added(() => update({ systemPrompt: 'Write well.' }))).toEqual(changed(['systemPrompt', former, next]));
    const restore = () => caller.restorePrompt({ params: { name, hash: former } });
    expect(await added(restore)).toEqual(changed(['systemPrompt', next, former]));
    const before = dataOf<HistoryEntry[]>(await history())[0]?.changes;
    expect(before).toHaveLength(1);
    const setSoul = () => caller.updateSoul({ params: { name }, body: { soul: 'Calm.' } });
    expect(await added(setSoul)).toEqual(changed(['soul', hashOf(''), hashOf('Calm.')]));
  });

  it('has each assigned and removed skill, and no skill in the next change', async () => {
    const skillId = 'sk_code-review';
    expect(await added(() => caller.assignSkill({ params: { name }, body: { skillId } }))).toEqual(
      changed(['skills', null, skillId]),
    );
    const [before] = dataOf<HistoryEntry[]>(await history());
    expect(Date.now() - Date.parse(before?.at as string)).toBeLessThan(60_000);
    expect(await added(() => update({ displayName: 'Author' }))).toEqual(changed(['displayName', 'Writer', 'Author']));
    expect(await added(() => caller.unassignSkill({ params: { name, skillId } }))).toEqual(
      changed(['skills', skillId, null]),
    );
  });

  it('names a token without a name by its id', async () => {
    const { organization } = caller;
    const token = await issueToken(processContext(), { organization, scopes: ['agents:write'] });
    const tokenId = token.slice(5, 17);
    const act = () => caller.updateAgent({ params: { name }, body: { displayName: 'Author' }, token });
    expect(await added(act)).toMatchObject([{ by: { kind: 'token', name: tokenId, id: tokenId } }]);
  });

  it('is newest first, in pages, with the exact total, and the same after repeated records', async () => {
    for (const displayName of ['One', 'Two', 'Three']) await update({ displayName });
    const before = await entries();
    await publish(...(await service.changes.after(undefined, 10_000)).toReversed());
    expect(await entries()).toEqual(before);
    const page = await history('limit=2&offset=1');
    expect(dataOf<HistoryEntry[]>(page).map(({ changes }) => changes?.[0]?.to)).toEqual(['Two', 'One']);
    expect(paginationOf(page)).toEqual({ limit: 2, offset: 1, total: 4 });
  });

  it('is not that of a deleted agent of the same name', async () => {
    await update({ displayName: 'Author' });
    await publishChanges();
    successOf(await caller.deleteAgent({ params: { name } }));
    await caller.refuses(() => history(), 404, 'not_found');
    successOf(await caller.createAgent({ body: newAgent }));
    expect(await entries()).toMatchObject([{ kind: 'created', by: ada }]);
  });

  it('404 for an agent that does not exist, or is of another organization', async () => {
    const other = await newAgentCaller();
    successOf(await other.createAgent({ body: { ...newAgent, name: 'theirs' } }));
    for (const of of ['theirs', 'nobody', 'No Name']) await caller.refuses(() => history('', of), 404, 'not_found');
  });

  it('403 for a token without agents:read', async () => {
    const token = await issueToken(processContext(), { organization: caller.organization, scopes: ['tasks:read'] });
    const send = () => caller.getAgentHistory({ params: { name }, token });
    await caller.refuses(send, 403, 'insufficient_scope');
  });
});
