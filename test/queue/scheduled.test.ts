import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { processContext, setProcessContext } from '../../lib/context.ts';
import { type Job, jobs } from '../../lib/deployment/consumers.ts';
import { scheduled } from '../../lib/queue/scheduled.ts';
import type { Table } from '../../lib/table/client.ts';
import type { SweepCall } from '../../lib/table/lists/due.ts';
import { clockAt } from '../service.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
setProcessContext({ environment: {}, clock: clockAt(now), table: {} as Table });
const { log } = processContext();

type Call = { job: Job } & Required<SweepCall>;
let calls: Call[];
/** The longest wait that each job finds. */
let waitedSeconds: number;
/** What is left of the function's time, in milliseconds. */
let leftMs: number;

beforeEach(() => {
  calls = [];
  waitedSeconds = 0;
  leftMs = 60_000;
  vi.spyOn(log, 'info').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

const worker = (job: Job) => async (call: Required<SweepCall>) => {
  calls.push({ job, ...call });
  return { woken: 3, unfinished: true, waits: { DeliveriesLate: waitedSeconds, SlowDeliveriesLate: 0 } };
};
const work = {
  deliveries: worker('deliveries'),
  executions: worker('executions'),
  purges: worker('purges'),
  heartbeat: worker('heartbeat'),
};
const context = { getRemainingTimeInMillis: () => leftMs };
const run = (detail: object, does: typeof work = work) => scheduled(does)({ detail }, context);

describe('a function of schedules', () => {
  it.each(jobs)('does %s, and nothing else, when it is called for that', async (job) => {
    await run({ job });
    expect(calls.map((call) => call.job)).toEqual([job]);
  });

  it.each([{}, { job: 'all' }])('does nothing when it is called with %j', async (detail) => {
    await expect(run(detail)).rejects.toThrow();
    expect(calls).toEqual([]);
  });

  it('acts for now, and asks to stop 15 s before its time is over', async () => {
    await run({ job: 'deliveries' });
    const [call] = calls;
    expect(call?.until).toBe(now);
    leftMs = 15_001;
    expect(call?.hasTime()).toBe(true);
    leftMs = 15_000;
    expect(call?.hasTime()).toBe(false);
  });

  it('acts for the moment that it is given, and takes the time that this needs', async () => {
    await run({ job: 'deliveries', until: '9999-12-31T23:59:59.999Z' });
    leftMs = 0;
    expect(calls[0]?.until).toBe(Date.parse('9999-12-31T23:59:59.999Z'));
    expect(calls[0]?.hasTime()).toBe(true);
  });

  it('says in the log which job it was, what it did and how long the found work has waited', async () => {
    waitedSeconds = 42;
    await run({ job: 'executions' });
    expect(vi.mocked(log.info).mock.calls).toEqual([
      ['scheduled', { job: 'executions', woken: 3, unfinished: true, DeliveriesLate: 42, SlowDeliveriesLate: 0 }],
    ]);
  });

  it.each([
    { waited: 0, lines: [] },
    { waited: 300, lines: [] },
    { waited: 307, lines: [{ WorkLate: 7 }] },
  ])('measures $waited s of waiting by how much longer than allowed they are', async ({ waited, lines }) => {
    waitedSeconds = waited;
    const written: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
    vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'Crewboard-test');
    await run({ job: 'deliveries' });
    vi.unstubAllEnvs();
    expect(written.map((line) => JSON.parse(line))).toMatchObject(lines);
  });

  it('throws on what went wrong, so that it counts as an error', async () => {
    const broken = { ...work, purges: async () => Promise.reject(new Error('It does not work.')) };
    await expect(run({ job: 'purges' }, broken)).rejects.toThrow('It does not work.');
  });
});
