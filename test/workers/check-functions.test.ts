import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { CheckedFunction, StartCheckAnswer, StartCheckEvent } from '../../lib/names/start-check.ts';
import { checkFunctions } from '../../lib/workers/check-functions.ts';

type Response = { Status: string; Reason: string; PhysicalResourceId: string; RequestId: string };
type Answers = Record<string, (event: StartCheckEvent, number: number) => StartCheckAnswer>;

const started = () => ({ started: true }) as const;

/** Runs the handler with functions that answer like this, and returns its response and the calls in their order. */
async function checked(answers: Answers, more: { type?: string; remainingMs?: number } = {}) {
  const calls: [name: string, event: StartCheckEvent][] = [];
  const responses: [url: string, body: Response][] = [];
  let waitedMs = 0;
  let running = 0;
  let mostRunning = 0;
  const handler = checkFunctions({
    call: async (arn, event) => {
      mostRunning = Math.max(mostRunning, ++running);
      await Promise.resolve();
      running -= 1;
      const name = arn.replace('arn:', '');
      const number = calls.filter(([called]) => called === name).length;
      calls.push([name, event]);
      return (answers[name] as Answers[string])(event, number);
    },
    respond: async (url, body) => void responses.push([url, JSON.parse(body)]),
    pause: async (milliseconds) => {
      waitedMs += milliseconds;
    },
  });
  const functions: CheckedFunction[] = Object.keys(answers).map((name) => ({ name, arn: `arn:${name}` }));
  const event = {
    RequestType: more.type ?? 'Create',
    ...{ ResponseURL: 'https://response', StackId: 'stack', RequestId: 'request', LogicalResourceId: 'Check1' },
    ...(more.type && { PhysicalResourceId: 'Check0' }),
    ResourceProperties: { ServiceToken: 'arn:checker', functions },
  } as unknown as CloudFormationCustomResourceEvent;
  const remaining = more.remainingMs ?? 180_000;
  await handler(event, { getRemainingTimeInMillis: () => remaining - waitedMs });
  expect(responses.map(([url]) => url)).toEqual(['https://response']);
  return { response: responses[0]?.[1] as Response, calls, waitedMs, mostRunning };
}

describe('the check of a deploy', () => {
  it('succeeds if all functions start; the first encrypts the sample that the others get', async () => {
    const { response, calls } = await checked({
      register: () => ({ started: true, sample: 'encrypted' }),
      deliver: started,
      list: started,
    });
    expect(response).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'Check1', RequestId: 'request' });
    expect(calls).toEqual([
      ['register', { startCheck: { sample: undefined } }],
      ['deliver', { startCheck: { sample: 'encrypted' } }],
      ['list', { startCheck: { sample: 'encrypted' } }],
    ]);
  });

  it('fails with the names of all functions that do not start, and their causes', async () => {
    const { response } = await checked({
      first: started,
      second: () => ({ started: false, error: 'RETRY_LADDER is "0,1,2"; write three whole numbers.' }),
      third: () => {
        throw Object.assign(new Error('Cannot find module'), { name: 'Runtime.ImportModuleError' });
      },
    });
    expect(response.Status).toBe('FAILED');
    expect(response.Reason).toMatch(/^Functions do not start: .*second: RETRY_LADDER is "0,1,2"; write three/);
    expect(response.Reason).toContain('third: Runtime.ImportModuleError: Cannot find module');
  });

  it('repeats a failed check for half a minute: IAM may not know a new role everywhere yet', async () => {
    const denied: StartCheckAnswer = { started: false, error: 'AccessDeniedException: not authorized' };
    const { response, calls, waitedMs } = await checked({
      late: (_, number) => (number < 4 ? denied : { started: true }),
    });
    expect([response.Status, calls.length, waitedMs]).toEqual(['SUCCESS', 5, 37_000]);
    const never = await checked({ never: () => denied });
    expect([never.response.Status, never.calls.length]).toEqual(['FAILED', 5]);
  });

  it('ends before Lambda stops the function, with what it knows', async () => {
    const failing = (): StartCheckAnswer => ({ started: false, error: 'No.' });
    const names = Array.from({ length: 30 }, (_, at) => `f${at}`);
    const { response, waitedMs } = await checked(Object.fromEntries(names.map((name) => [name, failing])), {
      remainingMs: 60_000,
    });
    expect(response.Status).toBe('FAILED');
    expect(waitedMs).toBeLessThanOrEqual(45_000);
    expect(response.Reason.length).toBeLessThanOrEqual(3_000);
    for (const name of names) expect(response.Reason).toContain(`${name}: No.`);
  });

  it('calls at most four functions at the same time, because a new account has ten concurrent calls', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `f${at}`);
    const { mostRunning } = await checked(Object.fromEntries(names.map((name) => [name, started])));
    expect(mostRunning).toBe(4);
  });

  it.each(['Update', 'Delete'])('answers %s with success at once, without a call', async (type) => {
    const broken = () => {
      throw new Error('broken');
    };
    const { response, calls, waitedMs } = await checked({ broken }, { type });
    expect(response).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'Check0' });
    expect([calls, waitedMs]).toEqual([[], 0]);
  });
});
