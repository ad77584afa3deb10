import { createAgent } from '../../lib/agents/agents.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { ExecutionMessage } from '../../lib/deployment/messages.ts';
import { executeAgent } from '../../lib/executions/executions.ts';
import type { Answer } from '../../lib/model/converse.ts';
import type { DelayedMessage as Waiting } from '../../lib/sqs/queue.ts';
import { readExecution } from '../../lib/table/executions/executions.ts';
import { newCaller } from '../service.ts';
import { createTestExecutions, scriptedModel, text } from './test-executions.ts';

const throttled: Answer = { kind: 'throttled', tokens: 0 };

/**
 * Runs executions of two organizations. Messages are received strictly in order, without a preference: the worst case,
 * because SQS fair queues prefer the organization with fewer messages.
 *
 * @param places how many workers run at once
 * @param busy how many executions the first organization has, whose model always throttles
 */
export async function createTwoOrganizations(places: number, busy: number) {
  const fixture = await createTestExecutions({ cap: busy });
  const { timeline, clock, sent, app, context } = fixture;
  const { organization: other } = await newCaller(app);
  const fields = { displayName: 'Writer', category: 'business', systemPrompt: '', soul: '' } as const;
  await createAgent(
    app,
    other,
    { ...fields, name: 'writer', model: 'free.model', capabilities: [], status: 'active' },
    undefined,
  );
  const answerOf = ({ model }: { model: string }) => (model === 'free.model' ? text('Done.', 100) : throttled);
  const { tools } = scriptedModel({ work: answerOf });

  const queue: { message: ExecutionMessage; at: number }[] = [];
  let free = places;
  const never = new AbortController().signal;
  /** When messages are received again without an end of an execution. */
  let nextAt = Number.POSITIVE_INFINITY;

  /** Receives what is due, and looks again when something ends or the next message is due. */
  const receive = (): void => {
    for (const { message, delaySeconds } of sent.splice(0) as Waiting<ExecutionMessage>[])
      queue.push({ message, at: clock() + delaySeconds * 1_000 });
    queue.sort((a, b) => a.at - b.at);
    while (free > 0 && queue[0] && queue[0].at <= clock()) {
      const { message } = queue.shift() as { message: ExecutionMessage };
      free--;
      void fixture.run(message, tools).finally(() => {
        free++;
        receive();
      });
    }
    const { at = nextAt } = queue[0] ?? {};
    if (free === 0 || at >= nextAt) return;
    nextAt = at;
    void timeline.pause(at - clock(), never).then(() => {
      nextAt = Number.POSITIVE_INFINITY;
      receive();
    });
  };

  const start = async (organization: Organization): Promise<ExecutionMessage> => {
    const { executionId } = await executeAgent(
      { ...context, ulid: app.ulid },
      organization,
      'writer',
      { input: 'Do it.' },
      undefined,
    );
    const message = { organization, executionId };
    queue.push({ message, at: clock() });
    return message;
  };
  const messages: ExecutionMessage[] = [];
  for (let nth = 0; nth < busy; nth++) messages.push(await start(fixture.organization));
  const message = await start(other);
  return {
    fixture,
    /** The executions of the organization whose model throttles. */
    messages,
    /** The one execution of the other organization. */
    message,
    /** Lets the workers run for a number of milliseconds. */
    async pass(milliseconds: number): Promise<void> {
      receive();
      await timeline.pass(milliseconds);
    },
    read: ({ organization, executionId: id }: ExecutionMessage) => readExecution(fixture.context, { organization, id }),
  };
}
