import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { meter } from '../../lib/queue/meter.ts';

let written: string[];

beforeEach(() => {
  written = [];
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'Crewboard-test');
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

it('counts are a line of the log in the embedded metric format, under the name of the stack, each with its unit', () => {
  meter({ WorkLate: 1.5, ModelThrottles: 7, AttemptsDelivered: 0 });
  const [line, ...more] = written.map((text) => JSON.parse(text));
  expect(more).toEqual([]);
  // A count of 0 is written: it is part of an average.
  expect(line).toMatchObject({ service: 'Crewboard-test', WorkLate: 1.5, ModelThrottles: 7, AttemptsDelivered: 0 });
  const [{ Metrics, ...rest }] = line._aws.CloudWatchMetrics;
  expect(rest).toEqual({ Namespace: 'Crewboard', Dimensions: [['service']] });
  expect(Metrics.slice(0, 2)).toEqual([
    { Name: 'WorkLate', Unit: 'Seconds' },
    { Name: 'ModelThrottles', Unit: 'Count' },
  ]);
});

it.each([
  ['counts', 'Crewboard-test', {}],
  ['a name of the deployment', '', { WorkLost: 1 }],
])('nothing is written without %s', (_, name, counts) => {
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', name);
  meter(counts);
  expect(written).toEqual([]);
});
