import { describe, expect, it } from 'vitest';
import { deleteAgent } from '../../lib/agents/agents.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import { endImprovementLease, leaseImprovement } from '../../lib/table/agents/improvements.ts';
import { idempotencyRecordWrite, readIdempotencyRecord } from '../../lib/table/idempotency.ts';
import { keys } from '../../lib/table/keys.ts';
import { AlreadyDone } from '../../lib/table/transact.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';
import { always, errorOf } from '../table/tasks/board.ts';
import { additions, proposes, usual } from './learning-model.ts';
import { createTestImprovements, meanwhile } from './test-improvements.ts';

const service = await createTestImprovements();
const { organization, clock, app, table } = service;
const inProgress = { status: 409, code: 'improvement_in_progress' };
const idle = { proposal: proposes(additions.idle) };

describe('a pass in progress', () => {
  it('rejects a second one, which asks no model and changes nothing', async () => {
    const name = await service.createReviewedAgent();
    const seen: unknown[] = [];
    const second = async () => {
      const before = await service.dump();
      const model = () => expect.unreachable();
      seen.push(await errorOf(service.improve(name, { says: { proposal: model } })));
      expect(await service.dump()).toEqual(before);
    };
    const { answer } = await service.improve(name, { says: meanwhile(second) });
    expect(seen).toMatchObject([inProgress]);
    expect(answer.improved).toBe(true);
    expect((await service.agent(name)).version).toBe(2);
  });

  it('does not reject a pass of another agent', async () => {
    const [name, other] = [await service.createReviewedAgent(), await service.createReviewedAgent()];
    const { answer } = await service.improve(name, { says: meanwhile(() => service.improve(other)) });
    expect([answer.improved, (await service.agent(other)).version]).toEqual([true, 2]);
  });

  it('is one of ten that begin at once', async () => {
    const name = await service.createReviewedAgent();
    const held = Promise.withResolvers<void>();
    const proposal = async (question: Parameters<typeof usual.proposal>[0]) => {
      await held.promise;
      return usual.proposal(question);
    };
    const all = Array.from({ length: 10 }, () => errorOf(service.improve(name, { says: { proposal } })));
    const refused: unknown[] = [];
    for (const one of all) void one.then((error) => refused.push(error) === 9 && held.resolve());
    const ends = await Promise.all(all);
    expect(ends.filter((error) => error === undefined)).toHaveLength(1);
    expect(ends.filter((error) => error?.code === inProgress.code)).toHaveLength(9);
    expect((await service.agent(name)).version).toBe(2);
  });
});

describe('when a pass has ended the next can begin:', () => {
  it.each([
    ['it has adopted', {}],
    ['it has kept the prompt', idle],
    ['the model has failed', { proposal: { kind: 'failed', error: 'No.', tokens: 0 } as const }],
  ])('%s', async (_, says) => {
    const name = await service.createReviewedAgent();
    await service.improve(name, { says });
    expect(await service.isLocked(await service.agent(name))).toBe(false);
  });

  it('it has failed at any request but those for its own beginning and end', async () => {
    const reached: boolean[] = [];
    for (let at = 0; reached.at(-1) ?? true; at++) {
      const name = await service.createReviewedAgent();
      const agent = await service.agent(name);
      const own = keys.improvement(organization, ulidOf(agent.id)).pk;
      let failed = false;
      let others = 0;
      const { table: through } = watchedTable(table, ({ names }) => {
        if (names(own) || others++ !== at) return;
        failed = true;
        throw new Error('out of order');
      });
      const message = await service.improve(name, { through }).catch((error: Error) => error.message);
      expect(message === 'out of order').toBe(failed);
      expect(await service.isLocked(agent)).toBe(false);
      expect((await service.agent(name)).version).toBe(failed ? 1 : 2);
      reached.push(failed);
    }
    expect(reached.length).toBeGreaterThan(10);
  });

  it('its agent was deleted just before it began, which is rejected as not found', async () => {
    const name = await service.createReviewedAgent();
    const agent = await service.agent(name);
    const { table: through } = watchedTable(table, async ({ nth, writes }) => {
      if (writes && nth === 1) await deleteAgent(app, organization, name, always);
    });
    expect(await errorOf(service.improve(name, { through }))).toMatchObject({ status: 404, code: 'not_found' });
    expect(await service.isLocked(agent)).toBe(false);
  });

  it('it cannot say that it has, but half a minute went by; its answer is given all the same', async () => {
    const name = await service.createReviewedAgent();
    const { table: through } = watchedTable(table, ({ writes, names }) => {
      if (writes && !names('leaseUntil') && !names('self-improved')) throw new Error('out of order');
    });
    expect((await service.improve(name, { through })).answer.improved).toBe(true);
    expect(await errorOf(service.improve(name))).toMatchObject(inProgress);
    clock.now += 30_000;
    expect((await service.improve(name, { says: idle })).answer.improved).toBe(false);
  });
});

describe('a pass that did not end', () => {
  it('expires after 30 seconds, and does not end the lease of the next', async () => {
    const name = await service.createReviewedAgent();
    const agent = await service.agent(name);
    const first = await leaseImprovement(service, organization, agent.id);
    clock.now += 29_999;
    expect(await errorOf(service.improve(name))).toMatchObject(inProgress);
    clock.now += 1;
    const second = await leaseImprovement(service, organization, agent.id);
    const end = (claim: string) => endImprovementLease(service, organization, agent.id, claim);
    await end(first);
    expect(await service.isLocked(agent)).toBe(true);
    await end(second);
    await end(second);
    expect(await service.isLocked(agent)).toBe(false);
  });
});

describe('under an Idempotency-Key', () => {
  const request = (key: string) => ({ key, operation: 'o', path: '/', body: {} });
  const onceOf = (key: string) => (answer: unknown) => idempotencyRecordWrite(app, organization, request(key), answer);
  const recorded = (key: string) => readIdempotencyRecord(app, organization, request(key));

  it('the answer is recorded with what was adopted, and with what was kept', async () => {
    const name = await service.createReviewedAgent();
    const { answer: kept } = await service.improve(name, { says: idle, once: onceOf('kept') });
    expect(await recorded('kept')).toEqual({ data: kept });
    const { answer } = await service.improve(name, { once: onceOf('adopted') });
    expect([answer.improved, await recorded('adopted')]).toEqual([true, { data: answer }]);
  });

  it('the answer that is recorded is the one that was given, where a change came in between', async () => {
    const name = await service.createReviewedAgent();
    const says = meanwhile(() => service.update(name, { systemPrompt: 'Mine.' }));
    const { answer } = await service.improve(name, { says, once: onceOf('changed') });
    expect([answer.improved, await recorded('changed')]).toEqual([false, { data: answer }]);
  });

  it('nothing is adopted where the answer cannot be recorded', async () => {
    const name = await service.createReviewedAgent();
    await service.improve(name, { says: idle, once: onceOf('duplicate') });
    const before = await service.dump();
    await expect(service.improve(name, { once: onceOf('duplicate') })).rejects.toThrow(AlreadyDone);
    expect(await service.dump()).toEqual(before);
  });

  it('nothing is recorded where nothing can be adopted', async () => {
    const name = await service.createReviewedAgent();
    const { table: through } = watchedTable(table, ({ names }) => {
      if (names('self-improved')) throw new Error('out of order');
    });
    await expect(service.improve(name, { through, once: onceOf('broken') })).rejects.toThrow('out of order');
    expect([await recorded('broken'), (await service.agent(name)).version]).toEqual([undefined, 1]);
  });
});
