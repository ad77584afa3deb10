import { describe, expect, it } from 'vitest';
import { timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { type Hold, holdOn, leaseMs } from '../../lib/executions/hold.ts';
import type { RunningExecution } from '../../lib/table/execution-items.ts';
import { Lost } from '../../lib/table/execution-steps.ts';
import { openTimeline, turn } from './timeline.ts';

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

/** A hold from the opening on, whose nth renewal, counted from 1, comes to what it is told; and when each was made. */
function held({ deadlineMs = 600 * second, renewal = async (_nth: number) => {} } = {}) {
  const timeline = openTimeline(opening);
  const renewals: { atMs: number; untilMs: number; claim: string | undefined }[] = [];
  const renew = async ({ claim }: RunningExecution, until: string): Promise<void> => {
    renewals.push({ atMs: timeline.clock() - opening, untilMs: Date.parse(until) - opening, claim });
    await renewal(renewals.length);
  };
  const { clock, pause } = timeline;
  const hold = holdOn(execution, opening + deadlineMs, { renew, clock, pause });
  return { timeline, renewals, hold };
}

const away = () => Promise.reject(new Error('The table is away.'));
const refused = () => Promise.reject(new Lost());
const stateOf = ({ signal, lost }: Hold) => ({ aborted: signal.aborted, lost: lost() });
const kept = { aborted: false, lost: false };
const lost = { aborted: true, lost: true };

describe('a hold', () => {
  it('is renewed every 10 seconds, each time for 30 seconds more', async () => {
    const { timeline, renewals, hold } = held();
    await timeline.pass(9_999);
    expect(renewals).toEqual([]);
    await timeline.pass(30 * second);
    expect(renewals).toEqual(
      [10, 20, 30].map((at) => ({ atMs: at * second, untilMs: at * second + leaseMs, claim: 'mine' })),
    );
    expect(stateOf(hold)).toEqual(kept);
  });

  it('whose renewal is refused is lost at once, and not renewed again', async () => {
    const { timeline, renewals, hold } = held({ renewal: (nth) => (nth === 2 ? refused() : Promise.resolve()) });
    await timeline.pass(15 * second);
    expect(stateOf(hold)).toEqual(kept);
    await timeline.pass(5 * second);
    await turn();
    expect(stateOf(hold)).toEqual(lost);
    await timeline.pass(60 * second);
    expect(renewals).toHaveLength(2);
  });

  it('whose renewals fail is kept until its lease has run out', async () => {
    const { timeline, hold } = held({ renewal: away });
    await timeline.pass(30 * second - 1);
    expect(stateOf(hold)).toEqual(kept);
    await timeline.pass(1);
    await turn();
    expect(stateOf(hold)).toEqual(lost);
  });

  it('is kept by a renewal that comes through in time, and then has its whole lease again', async () => {
    const { timeline, renewals, hold } = held({ renewal: (nth) => (nth === 2 ? Promise.resolve() : away()) });
    await timeline.pass(50 * second - 1);
    expect(stateOf(hold)).toEqual(kept);
    await timeline.pass(1);
    await turn();
    expect(stateOf(hold)).toEqual(lost);
    expect(renewals).toHaveLength(5);
  });

  it('aborts at the deadline, not before, and is not lost by it: there is still an end to write', async () => {
    const { timeline, hold } = held({ deadlineMs: 25 * second });
    await timeline.pass(25 * second - 1);
    expect(stateOf(hold)).toEqual(kept);
    await timeline.pass(1);
    await turn();
    expect(stateOf(hold)).toEqual({ aborted: true, lost: false });
  });

  it('that is released ends every pause, renews no more and aborts nothing', async () => {
    const { timeline, renewals, hold } = held({ deadlineMs: 25 * second });
    await timeline.pass(12 * second);
    expect(timeline.waiting()).toBe(2);
    hold.release();
    await turn();
    expect(timeline.waiting()).toBe(0);
    await timeline.pass(600 * second);
    expect(renewals).toHaveLength(1);
    expect(stateOf(hold)).toEqual(kept);
  });

  it('that is released while a renewal is under way ends with it', async () => {
    const renewal = Promise.withResolvers<void>();
    const { timeline, renewals, hold } = held({ renewal: () => renewal.promise });
    await timeline.pass(10 * second);
    await turn();
    hold.release();
    renewal.resolve();
    await timeline.pass(60 * second);
    expect(renewals).toHaveLength(1);
    expect(timeline.waiting()).toBe(0);
  });

  it('is renewed no more once the time is up, so that another can follow a worker that hangs', async () => {
    const { timeline, renewals } = held({ deadlineMs: 25 * second });
    await timeline.pass(600 * second);
    expect(renewals.map(({ atMs }) => atMs)).toEqual([10 * second, 20 * second]);
    expect(timeline.waiting()).toBe(0);
  });
});
