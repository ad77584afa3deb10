import { describe, expect, it } from 'vitest';
import { deleteAgent } from '../../../lib/agents/agents.ts';
import { delegateTask } from '../../../lib/executions/delegations.ts';
import type { ModelAnswer, Question } from '../../../lib/model/converse.ts';
import type { ExecutionMessage } from '../../../lib/names/messages.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { unavailable } from '../../../lib/table/access/unavailable.ts';
import type { ExecutionHead } from '../../../lib/table/executions/execution-items.ts';
import { readExecutionHead } from '../../../lib/table/executions/executions.ts';
import { readDelegatedExecutions } from '../../../lib/table/executions/running-executions.ts';
import { watchedTable } from '../../table/fixtures/watched-table.ts';
import { always } from '../../table/tasks/test-table.ts';
import { createTestExecutions, scriptedModel, silent } from '../test-executions.ts';
import { turn } from '../timeline.ts';
import { requesting } from '../tool-scripts.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, context, timeline } = fixture;
const second = 1_000;
const names = ['one', 'two', 'three', 'four'] as const;
for (const name of names) await fixture.addAgent(name, { capabilities: ['delegate', 'tasks.write'] });

const cancelled = { status: 'failed', error: 'cancelled' };
const runningNow = async () => ((await getItem(fixture.table, keys.running(organization)))?.running as number) ?? 0;
const headOf = async ({ executionId: id }: ExecutionMessage) =>
  (await readExecutionHead(context, { organization, id })) as ExecutionHead;
const messageOf = ({ id }: ExecutionHead): ExecutionMessage => ({ organization, executionId: id });
const delegatedBy = async ({ executionId: id }: ExecutionMessage) =>
  (await readDelegatedExecutions(context, organization, id)).sort((a, b) => (a.id < b.id ? -1 : 1));

/** An execution whose worker has delegated, and whose model does not answer until `goOn`. */
type Delegating = {
  message: ExecutionMessage;
  ended: Promise<unknown>;
  goOn: (answer: ModelAnswer) => void;
  isAborted: () => boolean;
};

/** Runs an execution whose agent delegates to other agents by its tool, and then waits for its model. */
async function delegating(message: ExecutionMessage, to: readonly string[], taskId?: string): Promise<Delegating> {
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<ModelAnswer>();
  const { promise: isAsked, resolve: ask } = Promise.withResolvers<AbortSignal>();
  const call = (toAgent: string) => ({ toAgent, instruction: 'Do it.', ...(taskId && { taskId }) });
  const { tools } = scriptedModel({
    work: (question: Question) => {
      if (to.length > 0 && !question.turns?.length)
        return requesting(to.map((name) => ['delegate_task', call(name)] as const));
      ask(question.signal);
      return Promise.race([goesOn, silent(question)]);
    },
  });
  const ended = fixture.run(message, tools);
  const signal = await isAsked;
  await turn();
  return { message, ended, goOn, isAborted: () => signal.aborted };
}

/** Starts a chain: `one` delegates to `two`, which delegates to `three`, which delegates to `four`. All have a worker. */
async function startChain(taskId?: string): Promise<Delegating[]> {
  let message = await fixture.start({ ...(taskId && { taskId }) }, 'one');
  const chain: Delegating[] = [];
  for (const to of [['two'], ['three'], ['four'], []]) {
    chain.push(await delegating(message, to, taskId));
    const found = await delegatedBy(message);
    if (found[0]) message = messageOf(found[0]);
  }
  return chain;
}

const endsOf = (chain: readonly Delegating[]) =>
  Promise.all(chain.map(async ({ message }) => (await headOf(message)).error ?? (await headOf(message)).status));

describe('an execution that has delegated', () => {
  it('is cancelled with all that was delegated in its course, and their work stops within 4 seconds', async () => {
    const before = await runningNow();
    const { id: taskId } = await fixture.addTask();
    const chain = await startChain(taskId);
    const [root] = chain as [Delegating];
    expect((await headOf((chain[3] as Delegating).message)).delegatedIn).toEqual(
      chain.slice(0, 3).map(({ message }) => message.executionId),
    );
    expect(await runningNow()).toBe(before + 4);
    expect(await fixture.cancel(root.message, 'one')).toMatchObject(cancelled);
    expect(await endsOf(chain)).toEqual(Array(4).fill('cancelled'));
    expect(await runningNow()).toBe(before);
    expect(await fixture.task(taskId)).toMatchObject({ status: 'assigned', assignedAgent: 'one' });
    await timeline.pass(4 * second);
    expect(chain.map(({ isAborted }) => isAborted())).toEqual(Array(4).fill(true));
    expect(await Promise.all(chain.map(({ ended }) => ended))).toEqual(Array(4).fill({}));
  });

  it('is cancelled alone if the request says so', async () => {
    const chain = await startChain();
    const [root, child] = chain as [Delegating, Delegating];
    await fixture.cancel(root.message, 'one', fixture.table, false);
    expect(await endsOf(chain)).toEqual(['cancelled', 'running', 'running', 'running']);
    await fixture.cancel(child.message, 'two');
    expect(await endsOf(chain)).toEqual(Array(4).fill('cancelled'));
    await timeline.pass(4 * second);
    await Promise.all(chain.map(({ ended }) => ended));
  });

  it('is cancelled without the executions of the same agents that others have started', async () => {
    const others = [await fixture.start({}, 'two'), (await fixture.delegate('one', 'two')).message];
    const sibling = await delegating(await fixture.start({}, 'one'), ['two']);
    const [kept] = await delegatedBy(sibling.message);
    const { message, ended } = await delegating(await fixture.start({}, 'one'), ['two', 'three']);
    const found = await delegatedBy(message);
    await fixture.cancel(message, 'one');
    expect(
      await Promise.all(found.map(async ({ id }) => (await headOf({ organization, executionId: id })).error)),
    ).toEqual(['cancelled', 'cancelled']);
    for (const other of [...others, sibling.message, messageOf(kept as ExecutionHead)])
      expect((await headOf(other)).status).toBe('running');
    await fixture.cancel(sibling.message, 'one');
    for (const other of others) await fixture.cancel(other, 'two');
    await timeline.pass(4 * second);
    await Promise.all([ended, sibling.ended]);
  });

  it('starts none after it was cancelled, also if its model has just decided that', async () => {
    const before = await runningNow();
    const { message, ended, goOn } = await delegating(await fixture.start({}, 'one'), ['two']);
    await fixture.cancel(message, 'one');
    goOn(requesting([['delegate_task', { toAgent: 'three', instruction: 'Do it.' }]], 1));
    expect(await ended).toEqual({});
    expect(await runningNow()).toBe(before);
  });
});

describe('while an execution is cancelled with what it has delegated', () => {
  /** Cancels an execution of `one`; something happens before the first write that names a delegated execution. */
  async function cancelMeanwhile(
    message: ExecutionMessage,
    delegated: ExecutionHead,
    meanwhile: () => Promise<unknown>,
  ) {
    let hasCome = false;
    const { table } = watchedTable(fixture.table, async ({ writes, names: contains }) => {
      if (hasCome || !writes || !contains(delegated.id.slice(3))) return;
      hasCome = true;
      await meanwhile();
    });
    const outcome = await fixture.cancel(message, 'one', table as Table).catch((error: unknown) => error);
    expect(hasCome).toBe(true);
    return outcome;
  }

  /** Starts an execution of `one` that has delegated to `two`. */
  async function startPair() {
    const root = await delegating(await fixture.start({}, 'one'), ['two']);
    const [child] = (await delegatedBy(root.message)) as [ExecutionHead];
    return { root, child };
  }

  const settle = async ({ ended }: Delegating) => {
    await timeline.pass(4 * second);
    await ended;
  };

  it('a delegated one delegates, and that one is cancelled too', async () => {
    const { root, child } = await startPair();
    let later = '';
    await cancelMeanwhile(root.message, child, async () => {
      const delegatingExecution = { execution: await headOf(messageOf(child)), authorize: () => {} };
      const body = { toAgent: 'three', instruction: 'Do it.' };
      const requests = { ...context, table: fixture.table };
      await delegateTask(requests, organization, 'two', body, undefined, delegatingExecution);
      later = (await delegatedBy(messageOf(child)))[0]?.id as string;
    });
    expect((await headOf({ organization, executionId: later })).error).toBe('cancelled');
    expect(await delegatedBy(root.message)).toEqual([]);
    await settle(root);
  });

  it('a delegated one ends, and stays as it has ended', async () => {
    const { root, child } = await startPair();
    const outcome = await cancelMeanwhile(root.message, child, () =>
      fixture.run(messageOf(child), scriptedModel().tools),
    );
    expect(outcome).toMatchObject(cancelled);
    expect(await fixture.execution(messageOf(child))).toMatchObject({ status: 'completed', output: 'Done.' });
    await settle(root);
  });

  it('the agent of a delegated one is deleted, and the rest is cancelled', async () => {
    await fixture.addAgent('gone');
    const root = await delegating(await fixture.start({}, 'one'), ['gone', 'two']);
    const [first, other] = (await delegatedBy(root.message)) as [ExecutionHead, ExecutionHead];
    const outcome = await cancelMeanwhile(root.message, first, () =>
      deleteAgent(fixture.app, organization, 'gone', always),
    );
    expect(outcome).toMatchObject(cancelled);
    expect((await headOf(messageOf(other))).error).toBe('cancelled');
    await settle(root);
  });

  it('the service fails, which the error says; the next request cancels the rest, and says that it has ended', async () => {
    const { root, child } = await startPair();
    const outcome = await cancelMeanwhile(root.message, child, async () => {
      throw unavailable();
    });
    const message = expect.stringContaining(`${root.message.executionId} is cancelled, but the service is busy`);
    expect(outcome).toMatchObject({ code: 'unavailable', message, headers: { 'Retry-After': '10' } });
    expect((await headOf(root.message)).error).toBe('cancelled');
    expect((await headOf(messageOf(child))).status).toBe('running');
    const finished = { code: 'execution_finished' };
    await expect(fixture.cancel(root.message, 'one', fixture.table, false)).rejects.toMatchObject(finished);
    expect((await headOf(messageOf(child))).status).toBe('running');
    await expect(fixture.cancel(root.message, 'one')).rejects.toMatchObject(finished);
    expect((await headOf(messageOf(child))).error).toBe('cancelled');
    await settle(root);
  });
});

it('an execution that has ended by itself keeps those that it has delegated when it is to be cancelled', async () => {
  const root = await delegating(await fixture.start({}, 'one'), ['two']);
  const [child] = (await delegatedBy(root.message)) as [ExecutionHead];
  root.goOn({ kind: 'text', text: 'Done.', tokens: 1 });
  await root.ended;
  await expect(fixture.cancel(root.message, 'one')).rejects.toMatchObject({ code: 'execution_finished' });
  expect((await headOf(messageOf(child))).status).toBe('running');
});
