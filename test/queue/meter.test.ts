import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { meter } from '../../lib/queue/meter.ts';

let written: string[];

beforeEach(() => {
  written = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('counts', () => {
  it('are a line of the log in the embedded metric format, under the name of the stack', () => {
    vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'Crewboard-test');
    meter({ ExecutionsFailed: 1, WorkLost: 1, ModelThrottles: 7, AttemptsDelivered: 0 });
    const [line, ...more] = written.map((text) => JSON.parse(text));
    expect(more).toEqual([]);
    expect(line).toMatchObject({
      service: 'Crewboard-test',
      ExecutionsFailed: 1,
      WorkLost: 1,
      ModelThrottles: 7,
      // Half of an average.
      AttemptsDelivered: 0,
    });
    expect(line._aws.CloudWatchMetrics).toMatchObject([{ Namespace: 'Crewboard', Dimensions: [['service']] }]);
  });

  it("have each metric's own unit", () => {
    vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'Crewboard-test');
    meter({ WorkLate: 1.5, ModelThrottles: 2 });
    const [line] = written.map((text) => JSON.parse(text));
    expect(line._aws.CloudWatchMetrics[0].Metrics).toEqual([
      { Name: 'WorkLate', Unit: 'Seconds' },
      { Name: 'ModelThrottles', Unit: 'Count' },
    ]);
  });

  it('write nothing where nothing was counted', () => {
    vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'Crewboard-test');
    meter({});
    expect(written).toEqual([]);
  });

  it('write nothing where the deployment has no name', () => {
    vi.stubEnv('POWERTOOLS_SERVICE_NAME', '');
    meter({ WorkLost: 1 });
    expect(written).toEqual([]);
  });
});
