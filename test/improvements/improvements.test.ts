import { describe, expect, it } from 'vitest';
import { assignSkill, deleteAgent } from '../../lib/agents/agents.ts';
import { timestamp, ulidOf } from '../../lib/contract/ids.ts';
import { runWithRequest } from '../../lib/table/access/current-request.ts';
import { keys } from '../../lib/table/access/keys.ts';
import { getItem } from '../../lib/table/access/reads.ts';
import { AlreadyDone } from '../../lib/table/access/transact.ts';
import { hashOf } from '../../lib/table/agents/agent-items.ts';
import { readAgent } from '../../lib/table/agents/agents.ts';
import { endImprovementLease, leaseImprovement } from '../../lib/table/agents/improvements.ts';
import { readPreparedAgent } from '../../lib/table/agents/prepared-agents.ts';
import { purgeAgent } from '../../lib/table/executions/agent-purge.ts';
import { readTokensToday } from '../../lib/table/executions/running.ts';
import { idempotencyRecordWrites, readIdempotencyRecord } from '../../lib/table/idempotency.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';
import { always, errorOf } from '../table/tasks/test-table.ts';
import { additions, proposes } from './learning-model.ts';
import { createTestImprovements, meanwhile } from './test-improvements.ts';

const service = await createTestImprovements();
const { organization, clock, app, table } = service;
const better = `Write.\n\n${additions.better}`;
const idle = { proposal: proposes(additions.idle) };
const [previousPromptHash, newPromptHash] = [hashOf('Write.'), hashOf(better)];
const adopted = { improved: true, changesSummary: 'It asks for more.', previousPromptHash, newPromptHash };
const kept = (changesSummary: string) => ({
  ...{ ...adopted, improved: false, changesSummary, newPromptHash: previousPromptHash },
});

it('a better prompt becomes that of the agent in a new version, and nothing else of the agent changes', async () => {
  const name = await service.createReviewedAgent();
  await assignSkill(app, organization, name, 'sk_a', [{ id: 'sk_a', name: 'a', description: 'A.' }], undefined, []);
  const before = await readPreparedAgent(app, organization, name);
  clock.now += 1_000;
  expect((await service.improve(name)).answer).toEqual(adopted);
  const changed = { systemPrompt: better, version: 3, updatedAt: new Date(clock()).toISOString() };
  const agent = { ...before?.agent, ...changed };
  expect(await readPreparedAgent(app, organization, name)).toEqual({ skills: before?.skills, agent });
});

it('a prompt that is not better changes nothing: only the pass is stored and counted', async () => {
  const name = await service.createReviewedAgent();
  const { pk } = keys.improvement(organization, ulidOf((await service.agent(name)).id));
  const counted = keys.running(organization).pk;
  const withoutPasses = async () =>
    Object.entries(await service.dump()).filter(([key]) => !key.startsWith(pk) && !key.startsWith(counted));
  const before = await withoutPasses();
  const { answer } = await service.improve(name, { says: idle });
  expect(answer).toEqual(kept('The proposal was not seen to do better: It asks for more.'));
  expect(await withoutPasses()).toEqual(before);
});

it('a pass reviews only as many executions as the request says', async () => {
  const name = await service.createReviewedAgent();
  for (let more = 0; more < 2; more++) await service.runToFailedReview(name);
  const { asked } = await service.improve(name, { body: { lookbackExecutions: 2 } });
  expect(asked[0]?.user.match(/^- completed/gm)).toHaveLength(2);
});

it('every prompt of an agent is stored under its hash, with its time, its reason and its token', async () => {
  const by = <Done>(tokenId: string, act: () => Promise<Done>) => {
    clock.now += 1_000;
    return runWithRequest({ actor: { kind: 'token', name: tokenId, id: tokenId } }, act);
  };
  const name = 'long-lived';
  await by('one', () => service.create(name));
  await service.runToFailedReview(name);
  const patch = (systemPrompt: string, more = {}) => by('two', () => service.update(name, { systemPrompt, ...more }));
  const created = clock();
  await by('three', () => service.improve(name));
  await patch('Read.');
  await patch('Write.', { soul: 'Brisk.' });
  await by('three', () => service.improve(name, { says: idle }));
  await by('three', () => service.improve(name));
  await patch('');
  await by('two', () => service.update(name, { soul: 'Calm.' }));
  await patch('', { displayName: 'Another' });
  await patch('Read.');
  await by('two', () => service.update(name, { soul: 'Read.' }));
  const prompts = await service.promptsOf(await service.agent(name));
  const shown = prompts.map(({ prompt, why, by, summary, at }) => [prompt, why, by, summary, Date.parse(at) - created]);
  expect(shown).toEqual([
    ['Write.', 'created', 'one', undefined, 0],
    [better, 'self-improved', 'three', 'It asks for more.', 1_000],
    ['Read.', 'changed', 'two', undefined, 2_000],
    ['Write.', 'changed', 'two', undefined, 3_000],
    [better, 'self-improved', 'three', 'It asks for more.', 5_000],
    ['', 'changed', 'two', undefined, 6_000],
    ['Read.', 'changed', 'two', undefined, 9_000],
  ]);
  for (const { prompt = '?', promptHash } of prompts) expect(hashOf(prompt)).toBe(promptHash);
  // The first prompt of a system agent is recorded without a request.
  const reviewer = await service.agent('qa-reviewer');
  const [first] = await service.promptsOf(reviewer);
  expect(first).toMatchObject({ why: 'created', prompt: reviewer.systemPrompt });
  expect(first).not.toHaveProperty('by');
});

const changed = kept('The prompt was changed meanwhile; that change stands.');

it('during a pass a change of the prompt stays, and the response says so', async () => {
  const name = await service.createReviewedAgent();
  const says = meanwhile(() => service.update(name, { systemPrompt: 'Mine.' }));
  expect((await service.improve(name, { says })).answer).toEqual(changed);
  const agent = await service.agent(name);
  expect([agent.systemPrompt, agent.version]).toEqual(['Mine.', 2]);
  expect((await service.promptsOf(agent)).map(({ why }) => why)).toEqual(['created', 'changed']);
  expect(await service.isLocked(agent)).toBe(false);
});

it('during a pass a change of other fields stays, and the prompt is adopted', async () => {
  const name = await service.createReviewedAgent();
  const patch = { displayName: 'Mine', soul: 'Mine.', model: 'mine', status: 'draft' as const, capabilities: ['x'] };
  const { answer } = await service.improve(name, { says: meanwhile(() => service.update(name, patch)) });
  expect(answer).toEqual(adopted);
  expect(await service.agent(name)).toMatchObject({ ...patch, systemPrompt: better, version: 3 });
});

it('during a pass the agent can get tools that need other scopes: the pass does not change it', async () => {
  const name = await service.createReviewedAgent();
  const capabilities = ['tasks.read'];
  const says = meanwhile(() => service.update(name, { capabilities }));
  const { answer } = await service.improve(name, { says, scopes: ['agents:execute', 'agents:write'] });
  expect(answer).toEqual(
    kept('The agent got other tools meanwhile, which need scopes that the access token does not have.'),
  );
  expect(await service.agent(name)).toMatchObject({ capabilities, systemPrompt: 'Write.', version: 2 });
});

it.each([
  ['deleted', false],
  ['deleted and created again with the same prompt', true],
])('during a pass an agent can be %s: the pass does not change it, and the response says so', async (_, again) => {
  const name = await service.createReviewedAgent();
  const { id } = await service.agent(name);
  const replace = async () => {
    await deleteAgent(app, organization, name, always);
    if (again) await service.create(name);
  };
  const { answer } = await service.improve(name, { says: meanwhile(replace) });
  expect(answer).toEqual(kept('The agent was deleted meanwhile.'));
  const agent = await readAgent(service.app, organization, name);
  expect([agent?.systemPrompt, agent?.version]).toEqual(again ? ['Write.', 1] : [undefined, undefined]);
  expect(await service.isLocked({ id })).toBe(false);
});

describe('just before the write of the new prompt', () => {
  /** Returns a table that calls a function before each of the first `most` tries to adopt a prompt. */
  function beforeAdoption(happens: (nth: number) => Promise<unknown>, most = 1) {
    let times = 0;
    const { table: through } = watchedTable(table, async ({ writes, names }) => {
      if (writes && names('self-improved') && times < most) await happens(times++);
    });
    return { through, times: () => times };
  }

  it('a change of the prompt stays', async () => {
    const name = await service.createReviewedAgent();
    const { through } = beforeAdoption(() => service.update(name, { systemPrompt: 'Mine.' }));
    expect((await service.improve(name, { through })).answer).toEqual(changed);
    expect((await service.agent(name)).systemPrompt).toBe('Mine.');
  });

  it('four changes of another field stay, and the prompt is adopted', async () => {
    const name = await service.createReviewedAgent();
    const { through, times } = beforeAdoption((nth) => service.update(name, { displayName: `Mine ${nth}` }), 4);
    expect([(await service.improve(name, { through })).answer, times()]).toEqual([adopted, 4]);
    expect(await service.agent(name)).toMatchObject({ displayName: 'Mine 3', systemPrompt: better, version: 6 });
  });

  it('the fifth change of another field ends the pass without a change, and the response says so', async () => {
    const name = await service.createReviewedAgent();
    const { through, times } = beforeAdoption((nth) => service.update(name, { displayName: `Mine ${nth}` }), 99);
    expect((await service.improve(name, { through })).answer).toEqual(
      kept('The agent was changed again and again, so the proposal could not be written; ask again.'),
    );
    expect(times()).toBe(5);
    expect(await service.agent(name)).toMatchObject({ systemPrompt: 'Write.', displayName: 'Mine 4', version: 6 });
  });
});

it('a purge of an agent deletes its prompts, their changes and the lease of a pass that did not end', async () => {
  const name = await service.createReviewedAgent();
  await service.improve(name);
  const { id } = await service.agent(name);
  await leaseImprovement(service, organization, id);
  await deleteAgent(app, organization, name, always);
  const hasItems = async () => JSON.stringify(await service.dump()).includes(ulidOf(id));
  expect(await hasItems()).toBe(true);
  await purgeAgent({ table }, { organization, agentId: id }, () => undefined as never, timestamp(0));
  expect(await hasItems()).toBe(false);
  expect(await errorOf(service.improve(name))).toMatchObject({ status: 404, code: 'not_found' });
});

describe('in the limits of the organization, a pass', () => {
  const paid = { proposal: { ...proposes(additions.better), tokens: 7 } };
  const limits = { executionsPerMinute: 1_000 };
  const stored = async () => (await getItem(table, keys.running(organization))) ?? {};
  const counts = async () => {
    const { running, starts } = await stored();
    return { running, starts, tokens: await readTokensToday(app, organization, clock()) };
  };
  /** Each pass begins in a minute of its own. */
  const nextMinute = () => {
    clock.now += 60_000;
  };

  it.each<[string, (name: string) => Promise<unknown>]>([
    ['adopts a prompt', (name) => service.improve(name, { says: paid, limits })],
    [
      'fails at a model',
      (name) => service.improve(name, { says: { ...paid, run: { kind: 'failed', error: 'No.', tokens: 0 } }, limits }),
    ],
    [
      'cannot store its result',
      (name) => {
        const { table: through } = watchedTable(table, ({ names }) => {
          if (names('self-improved')) throw outage;
        });
        return expect(service.improve(name, { says: paid, limits, through })).rejects.toThrow(outage);
      },
    ],
    [
      'has an agent that is deleted meanwhile',
      (name) => {
        const says = { ...paid, ...meanwhile(() => deleteAgent(app, organization, name, always)) };
        return service.improve(name, { says, limits });
      },
    ],
    [
      'breaks off',
      (name) => {
        const says = { ...paid, run: () => Promise.reject(outage) };
        return expect(service.improve(name, { says, limits })).rejects.toThrow(outage);
      },
    ],
  ])('that %s is one start, its tokens are those of the day, and it is not running', async (_, improve) => {
    const name = await service.createReviewedAgent();
    nextMinute();
    const { running, tokens } = await counts();
    await improve(name);
    expect(await counts()).toEqual({ running, starts: 1, tokens: tokens + 7 });
  });

  it('gets 429 rate_limited when the starts of the minute or the tokens of the day are used, and changes nothing', async () => {
    const name = await service.createReviewedAgent();
    nextMinute();
    const first = { executionsPerMinute: 1 };
    await service.improve(name, { says: { proposal: { ...proposes(additions.idle), tokens: 7 } }, limits: first });
    const before = await service.dump();
    for (const [rejecting, message] of [
      [first, 'The organization has started 1 executions in this minute'],
      [{ dailyTokens: 7 }, 'The organization has used its budget of 7 tokens'],
    ] as const) {
      const proposal = () => expect.unreachable();
      const error = await errorOf(service.improve(name, { says: { proposal }, limits: rejecting }));
      expect(error).toMatchObject({ status: 429, code: 'rate_limited', message: expect.stringContaining(message) });
      expect(Number(error?.headers['Retry-After'])).toBeGreaterThan(0);
    }
    expect(await service.dump()).toEqual(before);
  });

  it('begins also while as many executions are running as may run', async () => {
    const name = await service.createReviewedAgent();
    await service.start();
    expect((await service.improve(name, { limits })).answer.improved).toBe(true);
  });

  it('that asks no model does not count', async () => {
    await service.create('idle');
    nextMinute();
    const before = await stored();
    expect((await service.improve('idle', { limits })).answer.improved).toBe(false);
    expect(await stored()).toEqual(before);
  });
});

const inProgress = { status: 409, code: 'improvement_in_progress' };
const outage = new Error('outage');

describe('a pass in progress', () => {
  it('rejects a second one, which asks no model and changes nothing, but none of another agent', async () => {
    const [name, other] = [await service.createReviewedAgent(), await service.createReviewedAgent()];
    const errors: unknown[] = [];
    const second = async () => {
      const before = await service.dump();
      const proposal = () => expect.unreachable();
      errors.push(await errorOf(service.improve(name, { says: { proposal } })));
      expect(await service.dump()).toEqual(before);
      await service.improve(other);
    };
    await service.improve(name, { says: meanwhile(second) });
    expect(errors).toMatchObject([inProgress]);
    for (const one of [name, other]) expect((await service.agent(one)).version).toBe(2);
  });

  it('is the only one of ten that begin at once', async () => {
    const name = await service.createReviewedAgent();
    const rejected = Promise.withResolvers<void>();
    const codes: (string | undefined)[] = [];
    const improve = async () => {
      codes.push((await errorOf(service.improve(name, { says: meanwhile(() => rejected.promise) })))?.code);
      if (codes.length === 9) rejected.resolve();
    };
    await Promise.all(Array.from({ length: 10 }, improve));
    expect(codes).toEqual([...Array(9).fill(inProgress.code), undefined]);
    expect((await service.agent(name)).version).toBe(2);
  });
});

describe('the next pass can begin after a pass that', () => {
  it.each([
    ['adopted a prompt', {}],
    ['kept the prompt', idle],
    ['failed at the model', { proposal: { kind: 'failed', error: 'No.', tokens: 0 } as const }],
  ])('%s', async (_, says) => {
    const name = await service.createReviewedAgent();
    await service.improve(name, { says });
    expect(await service.isLocked(await service.agent(name))).toBe(false);
  });

  it('failed at any request except those that begin and end its lease', async () => {
    const reached: boolean[] = [];
    for (let at = 0; reached.at(-1) ?? true; at++) {
      const name = await service.createReviewedAgent();
      const agent = await service.agent(name);
      const lease = keys.improvement(organization, ulidOf(agent.id)).pk;
      let failed = false;
      let others = 0;
      const { table: through } = watchedTable(table, ({ names }) => {
        if (names(lease) || others++ !== at) return;
        failed = true;
        throw outage;
      });
      const error = await service.improve(name, { through }).catch((error: Error) => error);
      expect(error === outage).toBe(failed);
      expect(await service.isLocked(agent)).toBe(false);
      expect((await service.agent(name)).version).toBe(failed ? 1 : 2);
      reached.push(failed);
    }
    expect(reached.length).toBeGreaterThan(10);
  });

  it('found its agent deleted, and was rejected as not found', async () => {
    const name = await service.createReviewedAgent();
    const agent = await service.agent(name);
    const { table: through } = watchedTable(table, async ({ nth, writes }) => {
      if (writes && nth === 1) await deleteAgent(app, organization, name, always);
    });
    expect(await errorOf(service.improve(name, { through }))).toMatchObject({ status: 404, code: 'not_found' });
    expect(await service.isLocked(agent)).toBe(false);
  });

  it('could not end its lease, 30 seconds later; its response is returned nevertheless', async () => {
    const name = await service.createReviewedAgent();
    const { table: through } = watchedTable(table, ({ writes, names }) => {
      if (writes && !names('leaseUntil') && !names('self-improved') && !names(keys.running(organization).pk))
        throw outage;
    });
    expect((await service.improve(name, { through })).answer.improved).toBe(true);
    expect(await errorOf(service.improve(name))).toMatchObject(inProgress);
    clock.now += 30_000;
    expect((await service.improve(name, { says: idle })).answer.improved).toBe(false);
  });
});

it('the lease of a pass that did not end expires after 30 seconds, and cannot end the next lease', async () => {
  const name = await service.createReviewedAgent();
  const agent = await service.agent(name);
  const first = await leaseImprovement(service, organization, agent.id);
  clock.now += 29_999;
  expect(await errorOf(service.improve(name))).toMatchObject(inProgress);
  clock.now += 1;
  const second = await leaseImprovement(service, organization, agent.id);
  const end = (leaseId: string) => endImprovementLease(service, organization, agent.id, leaseId);
  await end(first);
  expect(await service.isLocked(agent)).toBe(true);
  await end(second);
  await end(second);
  expect(await service.isLocked(agent)).toBe(false);
});

describe('under an Idempotency-Key', () => {
  const request = (key: string) => ({ key, operation: 'o', path: '/', body: {} });
  const onceOf = (key: string) => (answer: unknown) =>
    idempotencyRecordWrites(app, organization, request(key), { data: answer });
  const recorded = (key: string) => readIdempotencyRecord(app, organization, request(key));

  it('the response of a pass is recorded, whether it kept, adopted or found a new prompt', async () => {
    const name = await service.createReviewedAgent();
    const found = meanwhile(() => service.update(name, { systemPrompt: 'Mine.' }));
    for (const [key, says] of Object.entries({ kept: idle, adopted: {}, found })) {
      const { answer } = await service.improve(name, { says, once: onceOf(key) });
      expect([answer.improved, await recorded(key)]).toEqual([key === 'adopted', { data: answer }]);
    }
  });

  it('nothing is adopted if the response cannot be recorded', async () => {
    const name = await service.createReviewedAgent();
    await service.improve(name, { says: idle, once: onceOf('duplicate') });
    const before = await service.dump();
    await expect(service.improve(name, { once: onceOf('duplicate') })).rejects.toThrow(AlreadyDone);
    expect(await service.dump()).toEqual(before);
  });

  it('nothing is recorded if the prompt cannot be adopted', async () => {
    const name = await service.createReviewedAgent();
    const { table: through } = watchedTable(table, ({ names }) => {
      if (names('self-improved')) throw outage;
    });
    await expect(service.improve(name, { through, once: onceOf('broken') })).rejects.toThrow(outage);
    expect([await recorded('broken'), (await service.agent(name)).version]).toEqual([undefined, 1]);
  });
});
