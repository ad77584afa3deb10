import { expect, it } from 'vitest';
import { createAgent } from '../../lib/agents/agents.ts';
import type { ExecutionMessage } from '../../lib/deployment/messages.ts';
import { executeAgent } from '../../lib/executions/executions.ts';
import { readExecution } from '../../lib/table/executions/executions.ts';
import { newCaller } from '../service.ts';
import { agentFields, createTestExecutions, scriptedModel, text } from './test-executions.ts';

/**
 * Runs executions of two organizations by `places` workers at once. Messages are received strictly in order: the worst
 * case, because SQS fair queues prefer the organization with fewer messages.
 *
 * @param busy how many executions the first organization has, whose model always throttles
 */
async function createTwoOrganizations(places: number, busy: number) {
  const fixture = await createTestExecutions({ cap: busy });
  const { timeline, clock, sent, app, context } = fixture;
  const { organization: other } = await newCaller(app);
  await createAgent(app, other, { ...agentFields, model: 'free.model' }, undefined);
  const { tools } = scriptedModel({
    work: ({ model }) => (model === 'free.model' ? text('Done.', 100) : { kind: 'throttled', tokens: 0 }),
  });
  const queue: { message: ExecutionMessage; at: number }[] = [];
  let free = places;

  /** Receives what is due, and again when a worker ends or each second. */
  const receive = (): void => {
    for (const { message, delaySeconds } of sent.splice(0)) queue.push({ message, at: clock() + delaySeconds * 1_000 });
    queue.sort((one, another) => one.at - another.at);
    for (; free > 0 && queue[0] && queue[0].at <= clock(); free--) {
      const { message } = queue.shift() as { message: ExecutionMessage };
      void fixture.run(message, tools).finally(() => {
        free++;
        receive();
      });
    }
  };

  const messages: ExecutionMessage[] = [];
  for (const organization of [...Array(busy).fill(fixture.organization), other]) {
    const requests = { ...context, ulid: app.ulid };
    const { executionId } = await executeAgent(requests, organization, 'writer', { input: 'Do it.' }, undefined);
    messages.push({ organization, executionId });
    queue.push({ message: { organization, executionId }, at: clock() });
  }
  return {
    /** Lets the workers run for this number of seconds; returns the executions in the order of their starts. */
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second++) {
        receive();
        await timeline.pass(1_000);
      }
      return Promise.all(
        messages.map(({ organization, executionId: id }) => readExecution(context, { organization, id })),
      );
    },
  };
}

// A worker waits 5 s for a throttled model, and gives its place to the next message then.
it.each([
  { busy: 50, places: 50, seconds: 5 },
  { busy: 15, places: 5, seconds: 15 },
])(
  'an execution behind $busy of another organization, whose model throttles, is completed within $seconds s by $places workers',
  async ({ busy, places, seconds }) => {
    const { pass } = await createTwoOrganizations(places, busy);
    const statuses = (await pass(seconds)).map((execution) => execution?.status);
    expect(statuses).toEqual([...Array(busy).fill('running'), 'completed']);
  },
);
