import { afterEach, describe, expect, it } from 'vitest';
import { sweepExecutions } from '../../lib/executions/run/execution-messages.ts';
import { readExecutionHead } from '../../lib/table/executions/executions.ts';
import { createTestExecutions, scriptedModel } from './test-executions.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, clock, sent } = fixture;
const second = 1_000;
const minute = 60 * second;

/** Returns the messages that a sweep sends, by default of what is due now. */
async function swept(until = clock()) {
  await sweepExecutions(fixture.context, { until });
  return sent.splice(0).map(({ message, delaySeconds }) => ({ id: message.executionId, delaySeconds }));
}

const start = async () => (await fixture.start()).executionId;
const waited = async () => (await sweepExecutions(fixture.context, { until: clock() })).waits.ExecutionsLate;

let ids: string[] = [];
afterEach(async () => {
  clock.now += 20 * minute;
  for (const executionId of ids) await fixture.run({ organization, executionId }, scriptedModel().tools);
  ids = [];
  sent.length = 0;
  // Executions that have ended are not swept.
  expect(await swept(clock() + 60 * minute)).toEqual([]);
});

describe('the sweep of executions', () => {
  it('sends the message of an execution that no worker has leased for a minute, and again each minute', async () => {
    ids = [await start()];
    clock.now += minute - 1;
    expect(await swept()).toEqual([]);
    clock.now += 1;
    for (let nth = 0; nth < 3; nth++) {
      expect(await swept()).toEqual([{ id: ids[0], delaySeconds: 0 }]);
      expect(await swept()).toEqual([]);
      clock.now += minute;
    }
  });

  it('sends the message of a leased execution when its lease has expired; before, it is delayed until then', async () => {
    ids = [(await fixture.start()).executionId];
    clock.now += 31 * second;
    await fixture.lease(ids[0] as string);
    clock.now += 30 * second - 1;
    expect(await swept()).toEqual([]);
    clock.now += 1;
    expect(await swept()).toEqual([{ id: ids[0], delaySeconds: 0 }]);
    await fixture.lease(ids[0] as string);
    expect(await swept(clock() + 60 * minute)).toEqual([{ id: ids[0], delaySeconds: 30 }]);
  });

  it('sends the message of an execution whose model throttled, a minute after it can be leased again', async () => {
    const message = await fixture.start();
    ids = [message.executionId];
    await fixture.finish(message, scriptedModel({ work: { kind: 'throttled', tokens: 0 } }).tools);
    sent.length = 0;
    const head = await readExecutionHead(fixture.context, { organization, id: message.executionId });
    const resumeAt = Date.parse(head?.leaseUntil as string);
    expect(await swept(resumeAt + minute - 1)).toEqual([]);
    expect((await swept(resumeAt + minute)).map(({ id }) => id)).toEqual(ids);
  });

  it('measures the longest time that an execution has waited for a worker, without the time that a worker takes', async () => {
    expect(await waited()).toBe(0);
    const [waiting, leased] = [await start(), await start()];
    ids = [waiting, leased];
    clock.now += 270 * second;
    await fixture.lease(leased);
    clock.now += 30 * second;
    expect(await waited()).toBe(300);
    await fixture.run({ organization, executionId: waiting }, scriptedModel().tools);
    clock.now += 90 * second;
    // Its worker was lost: since the lease has expired another worker could lease it.
    expect(await waited()).toBe(90);
  });
});
