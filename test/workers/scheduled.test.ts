import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { processContext, setProcessContext } from '../../lib/context/context.ts';
import { type Job, jobs } from '../../lib/names/consumers.ts';
import type { Table } from '../../lib/table/access/client.ts';
import type { SweepCall } from '../../lib/table/lists/due.ts';
import { meter } from '../../lib/workers/meter.ts';
import { meteredModel } from '../../lib/workers/metered-model.ts';
import { scheduled } from '../../lib/workers/scheduled.ts';
import { clockAt } from '../service.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
setProcessContext({ environment: {}, clock: clockAt(now), table: {} as Table });

let calls: { job: Job; call: Required<SweepCall> }[];
/** The longest wait that each job finds. */
let waitedSeconds: number;
/** The remaining time of the function. */
let leftMs: number;
/** The metrics in the log. */
let written: string[];

beforeEach(() => {
  calls = [];
  waitedSeconds = 0;
  leftMs = 60_000;
  written = [];
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'Crewboard-test');
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  vi.spyOn(processContext().log, 'info').mockImplementation(() => {});
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const worker = (job: Job) => async (call: Required<SweepCall>) => {
  calls.push({ job, call });
  return { woken: 3, unfinished: true, waits: { DeliveriesLate: waitedSeconds, SlowDeliveriesLate: 0 } };
};
const work = Object.fromEntries(jobs.map((job) => [job, worker(job)])) as Record<Job, ReturnType<typeof worker>>;
const run = (detail: object, does = work) => scheduled(does)({ detail }, { getRemainingTimeInMillis: () => leftMs });

describe('a function of schedules', () => {
  it.each(jobs)('does %s, and nothing else, when it is called for that', async (job) => {
    await run({ job });
    expect(calls.map((call) => call.job)).toEqual([job]);
  });

  it('does nothing when it is called with an unknown job', async () => {
    await expect(run({ job: 'all' })).rejects.toThrow();
    expect(calls).toEqual([]);
  });

  it('acts for now, and asks to stop 15 s before its time is over', async () => {
    await run({ job: 'deliveries' });
    expect(calls).toMatchObject([{ call: { until: now } }]);
    leftMs = 15_001;
    expect(calls[0]?.call.hasTime()).toBe(true);
    leftMs = 15_000;
    expect(calls[0]?.call.hasTime()).toBe(false);
  });

  it('acts for the moment that it is given, and takes the time that this needs', async () => {
    await run({ job: 'deliveries', until: '9999-12-31T23:59:59.999Z' });
    leftMs = 0;
    expect(calls).toMatchObject([{ call: { until: Date.parse('9999-12-31T23:59:59.999Z') } }]);
    expect(calls[0]?.call.hasTime()).toBe(true);
  });

  it.each<[number, object[]]>([
    [300, []],
    [307, [{ WorkLate: 7 }]],
  ])('logs its job and result, and measures %i s of waiting by how much they exceed', async (waited, lines) => {
    waitedSeconds = waited;
    await run({ job: 'executions' });
    expect(written.map((line) => JSON.parse(line))).toMatchObject(lines);
    const result = { job: 'executions', woken: 3, unfinished: true, DeliveriesLate: waited, SlowDeliveriesLate: 0 };
    expect(vi.mocked(processContext().log.info).mock.calls).toEqual([['scheduled', result]]);
  });

  it('throws the error of its job, so that the call counts as failed', async () => {
    const broken = { ...work, purges: async () => Promise.reject(new Error('It does not work.')) };
    await expect(run({ job: 'purges' }, broken)).rejects.toThrow('It does not work.');
  });
});

it('counts are a line of the log in the embedded metric format, under the name of the stack, each with its unit', () => {
  meter({ WorkLate: 1.5, ModelThrottles: 7, AttemptsDelivered: 0 }, {}, { AttemptsDelivered: 1 });
  const [line, ...more] = written.map((text) => JSON.parse(text));
  expect(more).toEqual([]);
  // A count of 0 is written: it is part of an average.
  const values = { WorkLate: 1.5, ModelThrottles: 7, AttemptsDelivered: [0, 1] };
  expect(line).toMatchObject({ service: 'Crewboard-test', ...values });
  const [{ Metrics, ...rest }] = line._aws.CloudWatchMetrics;
  expect(rest).toEqual({ Namespace: 'Crewboard', Dimensions: [['service']] });
  expect(Metrics.slice(0, 2)).toEqual([
    { Name: 'WorkLate', Unit: 'Seconds' },
    { Name: 'ModelThrottles', Unit: 'Count' },
  ]);
});

it('the tokens of all answers of a model are counted once, under its name and with those of all models', async () => {
  const answers = [100, 0, 20, 5];
  const { model, metering } = meteredModel(async () => ({ kind: 'text', text: 'Yes.', tokens: answers.shift() ?? 0 }));
  const question = { model: 'maker.model-v1', system: '', user: '', maxTokens: 1, signal: AbortSignal.timeout(1_000) };
  const failed = metering(async () => {
    expect(await model(question)).toEqual({ kind: 'text', text: 'Yes.', tokens: 100 });
    for (const name of ['maker.model-v1', 'maker.model-v1', 'other']) await model({ ...question, model: name });
    throw new Error('The work fails.');
  });
  await expect(failed).rejects.toThrow('The work fails.');
  await metering(async () => {});
  const [line, other, ...more] = written.map((text) => JSON.parse(text));
  expect(more).toEqual([]);
  expect(line).toMatchObject({ service: 'Crewboard-test', model: 'maker.model-v1', TokensUsed: 120 });
  expect(other).toMatchObject({ model: 'other', TokensUsed: 5 });
  expect(line._aws.CloudWatchMetrics).toMatchObject([{ Dimensions: [['service', 'model'], ['service']] }]);
  meter({ WorkLost: 1 });
  expect(JSON.parse(written[2] as string)._aws.CloudWatchMetrics).toMatchObject([{ Dimensions: [['service']] }]);
});

it.each([
  ['counts', 'Crewboard-test', {}],
  ['a name of the deployment', '', { WorkLost: 1 }],
])('nothing is written without %s', (_, name, counts) => {
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', name);
  meter(counts);
  expect(written).toEqual([]);
});
