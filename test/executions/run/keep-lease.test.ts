import { BatchGetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import { type KeptLease, keepLease } from '../../../lib/executions/run/keep-lease.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { agentItem, headOf } from '../../../lib/table/agents/agent-items.ts';
import { executionItem } from '../../../lib/table/executions/execution-items.ts';
import { executionLeaseMs as leaseMs } from '../../../lib/table/lease.ts';
import { storedAgent } from '../../table/agents/agent-seed.ts';
import { runningExecution } from '../../table/executions/execution-table.ts';
import { conditionFailed } from '../../table/fixtures/dynamodb-errors.ts';
import { mockTable } from '../../table/fixtures/mock-table.ts';
import { opening } from '../test-executions.ts';
import { createTimeline, turn } from '../timeline.ts';

const second = 1_000;
const execution = runningExecution({ claim: 'mine', leaseUntil: timestamp(opening + leaseMs) });

/** The stored fields of the execution. */
const stored: Item = executionItem(execution, timestamp(opening));

/** The stored fields of its agent. */
const agent: Item = agentItem(execution.organization, headOf(storedAgent({ id: execution.agentId })));

type Keeping = {
  deadlineMs?: number;
  /** Decides the nth renewal, counted from 1. */
  renewal?: (nth: number) => Promise<void>;
  /** How far the clock is set after the start, in milliseconds. */
  stepMs?: number;
  /** Returns the stored execution and its agent, as the nth read finds them. */
  read?: (nth: number) => Promise<(Item | undefined)[]>;
};

/** Keeps a lease from the opening on. */
function keep({
  deadlineMs = 600 * second,
  renewal = async () => {},
  stepMs = 0,
  read = async () => [stored, agent],
}: Keeping = {}) {
  const timeline = createTimeline(opening);
  const renewals: { atMs: number; untilMs: number; claim: string | undefined }[] = [];
  const readsAtMs: number[] = [];
  const { table, dynamodb } = mockTable();
  dynamodb.on(BatchGetCommand).callsFake(async ({ RequestItems }) => {
    expect(RequestItems[table.name].ConsistentRead).toBe(true);
    readsAtMs.push(timeline.clock() - opening);
    return { Responses: { [table.name]: (await read(readsAtMs.length)).filter((item) => item !== undefined) } };
  });
  dynamodb.on(UpdateCommand).callsFake(async ({ ExpressionAttributeValues: values = {} }: UpdateCommandInput) => {
    const untilMs = Date.parse(values[':until']) - opening;
    renewals.push({ atMs: timeline.clock() - opening, untilMs, claim: values[':claim'] });
    await renewal(renewals.length);
    return {};
  });
  let setMs = 0;
  const clock = () => timeline.clock() + setMs;
  const lease = keepLease({ ...timeline, clock, table, defaultModel: 'm' }, execution, opening + deadlineMs);
  setMs = stepMs;
  /** Lets time pass; expects the lease to be in a state from the last millisecond of this time on. */
  const passInto = async (milliseconds: number, state: ReturnType<typeof stateOf>) => {
    await timeline.pass(milliseconds - 1);
    expect(stateOf(lease)).toEqual(kept);
    await timeline.pass(1);
    await turn();
    expect(stateOf(lease)).toEqual(state);
  };
  return { timeline, renewals, readsAtMs, lease, passInto };
}

const unreachable = () => Promise.reject(new Error('The table is unreachable.'));
const rejected = () => Promise.reject(conditionFailed());
const stateOf = ({ signal, lost }: KeptLease) => ({ aborted: signal.aborted, lost: lost() });
const kept = { aborted: false, lost: false };
const lost = { aborted: true, lost: true };

describe('the lease of an execution', () => {
  it('is renewed every 10 seconds, each time for 30 seconds more', async () => {
    const { timeline, renewals, passInto } = keep();
    await timeline.pass(9_999);
    expect(renewals).toEqual([]);
    await passInto(30 * second, kept);
    const expected = [10, 20, 30].map((at) => ({ atMs: at * second, untilMs: at * second + leaseMs, claim: 'mine' }));
    expect(renewals).toEqual(expected);
  });

  it('is lost when a renewal is rejected, and not renewed again', async () => {
    const { timeline, renewals, passInto } = keep({ renewal: async (nth) => (nth === 2 ? rejected() : undefined) });
    await passInto(20 * second, lost);
    await timeline.pass(60 * second);
    expect(renewals).toHaveLength(2);
  });

  it('is lost when it expires, if its renewals fail', async () => {
    await keep({ renewal: unreachable }).passInto(30 * second, lost);
  });

  it('lasts its whole time again after a renewal that succeeds in time', async () => {
    const { renewals, passInto } = keep({ renewal: async (nth) => (nth === 2 ? undefined : unreachable()) });
    await passInto(50 * second, lost);
    expect(renewals).toHaveLength(5);
  });

  it.each([-3_600_000, 3_600_000])(
    'is kept when the clock is set by %d ms, and renewed by that clock',
    async (stepMs) => {
      const { renewals, lease, passInto } = keep({ deadlineMs: 25 * second, stepMs });
      await passInto(25 * second, { aborted: true, lost: false });
      expect(renewals.map(({ untilMs }) => untilMs)).toEqual([10, 20].map((at) => at * second + stepMs + leaseMs));
      expect(lease.elapsedSince(opening - 5 * second)).toBe(30 * second);
    },
  );

  it('aborts at the deadline, and is not lost then: the worker still has to write the end', async () => {
    const { timeline, renewals, passInto } = keep({ deadlineMs: 25 * second });
    await passInto(25 * second, { aborted: true, lost: false });
    // It is not renewed afterwards, so that another worker can follow one that hangs.
    await timeline.pass(600 * second);
    expect([renewals.length, timeline.waiting()]).toEqual([2, 0]);
  });

  it('costs an execution of less than 4 seconds nothing, and a longer one a read every 4 seconds', async () => {
    const { timeline, readsAtMs } = keep({ deadlineMs: 25 * second });
    await timeline.pass(3_999);
    expect(readsAtMs).toEqual([]);
    await timeline.pass(60 * second);
    expect(readsAtMs).toEqual([4, 8, 12, 16, 20, 24].map((at) => at * second));
  });

  it.each<[string, Item | undefined, Item | undefined]>([
    ['execution was cancelled', { ...stored, status: 'failed', claim: undefined }, agent],
    ['execution has another lease holder', { ...stored, claim: 'theirs' }, agent],
    ['execution was deleted', undefined, agent],
    ['agent was deleted', stored, undefined],
    ['name of the agent is that of another agent', stored, { ...agent, id: 'ag_01KE0000000000000000000009' }],
  ])('is lost within 4 seconds when the %s, and not renewed again', async (_, ...found) => {
    const { timeline, renewals, readsAtMs, passInto } = keep({
      read: async (nth) => (nth < 3 ? [stored, agent] : found),
    });
    await passInto(12 * second, lost);
    await timeline.pass(60 * second);
    expect([renewals.length, readsAtMs.length, timeline.waiting()]).toEqual([1, 3, 1]);
  });

  it.each(['inactive', 'draft'])(
    'aborts within 4 seconds when the agent is %s, also if it is active again later, and is not lost then',
    async (status) => {
      const { timeline, lease, passInto } = keep({
        read: async (nth) => [stored, nth === 3 ? { ...agent, status } : agent],
      });
      await timeline.pass(8 * second);
      expect([lease.isAgentActive(), lease.agent()?.status]).toEqual([true, 'active']);
      await passInto(4 * second, { aborted: true, lost: false });
      await timeline.pass(10 * second);
      expect([lease.isAgentActive(), lease.agent()?.status]).toEqual([false, 'active']);
    },
  );

  it('is kept when the reads fail', async () => {
    await keep({ read: unreachable }).passInto(60 * second, kept);
  });

  it('is not renewed after a stop, which ends every pause and aborts nothing', async () => {
    const { timeline, renewals, lease } = keep({ deadlineMs: 25 * second });
    await timeline.pass(12 * second);
    expect(timeline.waiting()).toBe(3);
    lease.stop();
    await turn();
    expect(timeline.waiting()).toBe(0);
    await timeline.pass(600 * second);
    expect([renewals.length, stateOf(lease)]).toEqual([1, kept]);
  });

  it('is not renewed again after a stop during a renewal', async () => {
    const renewal = Promise.withResolvers<void>();
    const { timeline, renewals, lease } = keep({ renewal: () => renewal.promise });
    await timeline.pass(10 * second);
    await turn();
    lease.stop();
    renewal.resolve();
    await timeline.pass(60 * second);
    expect([renewals.length, timeline.waiting()]).toEqual([1, 0]);
  });
});
