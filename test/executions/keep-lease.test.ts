import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { type KeptLease, keepLease, leaseMs } from '../../lib/executions/keep-lease.ts';
import type { RunningExecution } from '../../lib/table/executions/execution-items.ts';
import { conditionFailed } from '../table/fixtures/dynamodb-errors.ts';
import { mockTable } from '../table/fixtures/mock-table.ts';
import { createTimeline, turn } from './timeline.ts';

const opening = Date.parse('2026-03-01T12:00:00.000Z');
const second = 1_000;

const execution: RunningExecution = {
  organization: 'org' as Organization,
  id: 'ex_01K00000000000000000000000',
  agentId: 'ag_01K00000000000000000000000',
  agentName: 'writer',
  status: 'running',
  startedAt: timestamp(opening),
  model: 'some.model',
  selfTest: 'pending',
  qaReview: 'pending',
  claims: 1,
  claim: 'mine',
  leaseUntil: timestamp(opening + leaseMs),
};

/** Keeps a lease from the opening on; `renewal` decides the nth renewal, counted from 1. */
function keep({ deadlineMs = 600 * second, renewal = async (_nth: number) => {} } = {}) {
  const timeline = createTimeline(opening);
  const renewals: { atMs: number; untilMs: number; claim: string | undefined }[] = [];
  const { table, dynamodb } = mockTable();
  dynamodb.on(UpdateCommand).callsFake(async ({ ExpressionAttributeValues: values = {} }: UpdateCommandInput) => {
    const untilMs = Date.parse(values[':until']) - opening;
    renewals.push({ atMs: timeline.clock() - opening, untilMs, claim: values[':claim'] });
    await renewal(renewals.length);
    return {};
  });
  const lease = keepLease({ ...timeline, table }, execution, opening + deadlineMs);
  return { timeline, renewals, lease };
}

const unreachable = () => Promise.reject(new Error('The table is unreachable.'));
const rejected = () => Promise.reject(conditionFailed());
const stateOf = ({ signal, lost }: KeptLease) => ({ aborted: signal.aborted, lost: lost() });
const kept = { aborted: false, lost: false };
const lost = { aborted: true, lost: true };

describe('the lease of an execution', () => {
  it('is renewed every 10 seconds, each time for 30 seconds more', async () => {
    const { timeline, renewals, lease } = keep();
    await timeline.pass(9_999);
    expect(renewals).toEqual([]);
    await timeline.pass(30 * second);
    expect(renewals).toEqual(
      [10, 20, 30].map((at) => ({ atMs: at * second, untilMs: at * second + leaseMs, claim: 'mine' })),
    );
    expect(stateOf(lease)).toEqual(kept);
  });

  it('is lost when a renewal is rejected, and not renewed again', async () => {
    const { timeline, renewals, lease } = keep({ renewal: (nth) => (nth === 2 ? rejected() : Promise.resolve()) });
    await timeline.pass(15 * second);
    expect(stateOf(lease)).toEqual(kept);
    await timeline.pass(5 * second);
    await turn();
    expect(stateOf(lease)).toEqual(lost);
    await timeline.pass(60 * second);
    expect(renewals).toHaveLength(2);
  });

  it('is lost when it expires, if its renewals fail', async () => {
    const { timeline, lease } = keep({ renewal: unreachable });
    await timeline.pass(30 * second - 1);
    expect(stateOf(lease)).toEqual(kept);
    await timeline.pass(1);
    await turn();
    expect(stateOf(lease)).toEqual(lost);
  });

  it('lasts its whole time again after a renewal that succeeds in time', async () => {
    const { timeline, renewals, lease } = keep({ renewal: (nth) => (nth === 2 ? Promise.resolve() : unreachable()) });
    await timeline.pass(50 * second - 1);
    expect(stateOf(lease)).toEqual(kept);
    await timeline.pass(1);
    await turn();
    expect(stateOf(lease)).toEqual(lost);
    expect(renewals).toHaveLength(5);
  });

  it('aborts at the deadline, and is not lost then: the worker still has to write the end', async () => {
    const { timeline, lease } = keep({ deadlineMs: 25 * second });
    await timeline.pass(25 * second - 1);
    expect(stateOf(lease)).toEqual(kept);
    await timeline.pass(1);
    await turn();
    expect(stateOf(lease)).toEqual({ aborted: true, lost: false });
  });

  it('is not renewed after a stop, which ends every pause and aborts nothing', async () => {
    const { timeline, renewals, lease } = keep({ deadlineMs: 25 * second });
    await timeline.pass(12 * second);
    expect(timeline.waiting()).toBe(2);
    lease.stop();
    await turn();
    expect(timeline.waiting()).toBe(0);
    await timeline.pass(600 * second);
    expect(renewals).toHaveLength(1);
    expect(stateOf(lease)).toEqual(kept);
  });

  it('is not renewed again after a stop during a renewal', async () => {
    const renewal = Promise.withResolvers<void>();
    const { timeline, renewals, lease } = keep({ renewal: () => renewal.promise });
    await timeline.pass(10 * second);
    await turn();
    lease.stop();
    renewal.resolve();
    await timeline.pass(60 * second);
    expect(renewals).toHaveLength(1);
    expect(timeline.waiting()).toBe(0);
  });

  it('is not renewed after the deadline, so that another worker can follow one that hangs', async () => {
    const { timeline, renewals } = keep({ deadlineMs: 25 * second });
    await timeline.pass(600 * second);
    expect(renewals.map(({ atMs }) => atMs)).toEqual([10 * second, 20 * second]);
    expect(timeline.waiting()).toBe(0);
  });
});
