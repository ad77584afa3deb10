import { describe, expect, it } from 'vitest';
import { deleteAgent } from '../../lib/agents/agents.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import type { Question } from '../../lib/model/converse.ts';
import { endImprovementLease, leaseImprovement } from '../../lib/table/agents/improvements.ts';
import { idempotencyRecordWrite, readIdempotencyRecord } from '../../lib/table/idempotency.ts';
import { keys } from '../../lib/table/keys.ts';
import { AlreadyDone } from '../../lib/table/transact.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';
import { always, errorOf } from '../table/tasks/test-table.ts';
import { additions, proposes, usual } from './learning-model.ts';
import { createTestImprovements, meanwhile } from './test-improvements.ts';

const service = await createTestImprovements();
const { organization, clock, app, table } = service;
const inProgress = { status: 409, code: 'improvement_in_progress' };
const outage = new Error('outage');
const idle = { proposal: proposes(additions.idle) };

describe('a pass in progress', () => {
  it('rejects a second one, which asks no model and changes nothing', async () => {
    const name = await service.createReviewedAgent();
    const errors: unknown[] = [];
    const second = async () => {
      const before = await service.dump();
      const proposal = () => expect.unreachable();
      errors.push(await errorOf(service.improve(name, { says: { proposal } })));
      expect(await service.dump()).toEqual(before);
    };
    const { answer } = await service.improve(name, { says: meanwhile(second) });
    expect(errors).toMatchObject([inProgress]);
    expect([answer.improved, (await service.agent(name)).version]).toEqual([true, 2]);
  });

  it('does not reject a pass of another agent', async () => {
    const [name, other] = [await service.createReviewedAgent(), await service.createReviewedAgent()];
    const { answer } = await service.improve(name, { says: meanwhile(() => service.improve(other)) });
    expect([answer.improved, (await service.agent(other)).version]).toEqual([true, 2]);
  });

  it('is the only one of ten that begin at once', async () => {
    const name = await service.createReviewedAgent();
    const held = Promise.withResolvers<void>();
    const proposal = async (question: Question) => {
      await held.promise;
      return usual.proposal(question);
    };
    const codes: (string | undefined)[] = [];
    const improve = async () => {
      codes.push((await errorOf(service.improve(name, { says: { proposal } })))?.code);
      if (codes.length === 9) held.resolve();
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
      if (writes && !names('leaseUntil') && !names('self-improved')) throw outage;
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
  const onceOf = (key: string) => (answer: unknown) => idempotencyRecordWrite(app, organization, request(key), answer);
  const recorded = (key: string) => readIdempotencyRecord(app, organization, request(key));

  it('the response of a pass is recorded, whether it adopted a prompt or not', async () => {
    const name = await service.createReviewedAgent();
    const { answer: kept } = await service.improve(name, { says: idle, once: onceOf('kept') });
    expect(await recorded('kept')).toEqual({ data: kept });
    const { answer } = await service.improve(name, { once: onceOf('adopted') });
    expect([answer.improved, await recorded('adopted')]).toEqual([true, { data: answer }]);
  });

  it('the recorded response is the returned one if the prompt was changed during the pass', async () => {
    const name = await service.createReviewedAgent();
    const says = meanwhile(() => service.update(name, { systemPrompt: 'Mine.' }));
    const { answer } = await service.improve(name, { says, once: onceOf('changed') });
    expect([answer.improved, await recorded('changed')]).toEqual([false, { data: answer }]);
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
