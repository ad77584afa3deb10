import { createAgent, deleteAgent, updateAgent } from '../../lib/agents/agents.ts';
import type { DelayedMessage as Waiting } from '../../lib/aws/queue.ts';
import type { Context } from '../../lib/context/context.ts';
import type { Agent, NewAgent } from '../../lib/contract/agents/agents.ts';
import { standardConduct } from '../../lib/contract/agents/standard-conduct.ts';
import { scopes } from '../../lib/contract/endpoint.ts';
import type { NewDelegation, NewExecution } from '../../lib/contract/executions/executions.ts';
import { timestamp, ulidOf } from '../../lib/contract/ids.ts';
import type { NewTask, Task } from '../../lib/contract/tasks/tasks.ts';
import { delegateTask } from '../../lib/executions/delegations.ts';
import { cancelExecution, rerunExecution } from '../../lib/executions/execution-control.ts';
import { executeAgent } from '../../lib/executions/executions.ts';
import { selfTestPrompt, verdictLine } from '../../lib/executions/prompts/execution-prompts.ts';
import { runDuePurges } from '../../lib/executions/purges.ts';
import type { RunResources } from '../../lib/executions/run/generate-output.ts';
import { runExecution } from '../../lib/executions/run/run-execution.ts';
import type { Model, ModelAnswer, Question } from '../../lib/model/converse.ts';
import type { ExecutionMessage } from '../../lib/names/messages.ts';
import type { Counts } from '../../lib/names/metrics.ts';
import type { Table } from '../../lib/table/access/client.ts';
import { keys } from '../../lib/table/access/keys.ts';
import { getItem } from '../../lib/table/access/reads.ts';
import { createShards } from '../../lib/table/access/shards.ts';
import type { RunningExecution } from '../../lib/table/executions/execution-items.ts';
import { leaseExecution, readExecution } from '../../lib/table/executions/executions.ts';
import { readTask } from '../../lib/table/tasks/tasks.ts';
import { createTask } from '../../lib/tasks/tasks.ts';
import { callAgentTool, grantedTools } from '../../lib/tools/agent-tools.ts';
import { newCaller, openService } from '../service.ts';
import { interceptTable } from '../table/fixtures/intercepted-table.ts';
import { dumpOf } from '../table/fixtures/table-dump.ts';
import { newTask } from '../table/tasks/test-table.ts';
import { createTimeline, turn } from './timeline.ts';

/** The start of the simulated clock. */
export const opening = Date.parse('2026-03-01T12:00:00.000Z');

/** The fields of `writer`. */
const agentFields: NewAgent = {
  ...{ name: 'writer', displayName: 'Writer', category: 'business', model: 'writer.model' },
  ...{ systemPrompt: 'Write.', soul: 'Calm.', capabilities: [], status: 'active', ...standardConduct },
};

export type TestExecutions = Awaited<ReturnType<typeof createTestExecutions>>;

/** Creates an organization with a simulated clock and the agent `writer`; `through` wraps the table of workers. */
export async function createTestExecutions({ cap = 50, through = (table: Table) => table } = {}) {
  let underWay = 0;
  const timeline = createTimeline(opening, async () => {
    for (let quiet = 0; quiet < 2; quiet = underWay === 0 ? quiet + 1 : 0) await turn();
  });
  const { clock, pause } = timeline;
  const service = await openService(clock);
  const { app, table } = service;
  const { organization } = await newCaller(app);
  await createAgent(app, organization, agentFields, undefined, scopes);

  /** Counts an operation of a test during an execution; the timeline waits for it as for requests of the execution. */
  const counted = <Result>(work: Promise<Result>): Promise<Result> => {
    underWay++;
    return work.finally(() => underWay--);
  };

  /** The table of the workers. The timeline waits for its requests; it does not wait between tries. */
  const seen: Table = through({
    ...interceptTable(table, (send) => counted(send())),
    sleep: async () => {},
    shards: createShards(),
  });
  const sent: Waiting<ExecutionMessage>[] = [];
  /** The context of the workers. */
  const context: Context = {
    ...app,
    table: seen,
    queues: new Map([['executions', async (messages) => void sent.push(...(messages as Waiting<ExecutionMessage>[]))]]),
    defaultModel: 'm',
    preparedAgents: new Map(),
    pause,
    runningCap: cap,
  };
  /** The context of requests. */
  const requests: Context = { ...context, table };
  const fixture = {
    ...{ service, app, table, organization, timeline, clock, context, sent },

    update: (name: string, patch: Partial<Agent>) =>
      counted(updateAgent(app, organization, name, patch, () => {}, scopes)),

    /** Deletes an agent and everything that belongs to it. */
    deleteAgent: (name: string) =>
      counted(
        deleteAgent({ ...app, clock }, organization, name, () => {}).then(() =>
          runDuePurges({ ...app, clock }, { until: clock(), hasTime: () => true }),
        ),
      ),

    /** Adds an agent with the fields of `writer`, except the given fields. */
    addAgent: (name: string, fields: Partial<NewAgent> = {}) =>
      counted(createAgent(app, organization, { ...agentFields, name, ...fields }, undefined, scopes)),

    addTask: (fields: Partial<NewTask> = {}): Promise<Task> =>
      counted(createTask(app, organization, newTask(fields), undefined)),

    task: (id: string) => readTask({ table: seen }, organization, id),

    /** Starts an execution, by default of `writer`, and returns its message. */
    async start(fields: Partial<NewExecution> = {}, name = 'writer'): Promise<ExecutionMessage> {
      const input = { input: 'Do it.', ...fields };
      const { executionId } = await executeAgent(requests, organization, name, input, undefined);
      return { organization, executionId };
    },

    /** Delegates from an agent to another; returns the message of its execution. */
    async delegate(from: string, toAgent: string, fields: Partial<NewDelegation> = {}) {
      const body = { instruction: 'Do it.', ...fields, toAgent };
      const { delegationId } = await delegateTask(requests, organization, from, body, undefined);
      const item = await getItem(table, keys.delegation(organization, ulidOf(delegationId)));
      return { message: { organization, executionId: item?.executionId as string } };
    },

    /** Cancels an execution, by default of `writer`, as a request does that uses this table. */
    cancel: ({ executionId: id }: ExecutionMessage, name = 'writer', through = table, delegated = true) =>
      counted(cancelExecution({ ...requests, table: through }, organization, name, id, { delegated }, undefined)),

    /** Runs an execution again, by default of `writer`; returns the message of the new one. */
    async rerun({ executionId: id }: ExecutionMessage, name = 'writer'): Promise<ExecutionMessage> {
      const { executionId } = await rerunExecution(requests, organization, name, id, undefined);
      return { organization, executionId };
    },

    /** Starts an execution and leases it. */
    async leased(fields: Partial<NewExecution> = {}, name = 'writer'): Promise<RunningExecution> {
      const { executionId: id } = await fixture.start(fields, name);
      return (await fixture.lease(id)) as RunningExecution;
    },

    /** Leases an execution as a worker that then does nothing. */
    lease(id: string, leaseId = `lease-${clock()}`) {
      const lease = { leaseId, now: timestamp(clock()), until: timestamp(clock() + 30_000) };
      return leaseExecution(context, { organization, id }, lease);
    },

    /** Runs an execution without letting time pass; returns the counts. */
    run: async (message: ExecutionMessage, tools: RunResources): Promise<Counts> =>
      (await runExecution(context, message, tools)).counts ?? {},

    /** Runs an execution until its worker ends it or returns its lease, letting time pass. */
    finish: (message: ExecutionMessage, tools: RunResources): Promise<Counts> =>
      timeline.finish(fixture.run(message, tools)),

    /** Runs an execution to its end, by one worker after the other; returns the counts of each. */
    async finishAll(message: ExecutionMessage, tools: RunResources): Promise<Counts[]> {
      const counts: Counts[] = [];
      for (let next: Waiting<ExecutionMessage> | undefined = { message, delaySeconds: 0 }; next; next = sent.pop()) {
        await timeline.pass(next.delaySeconds * 1_000);
        counts.push(await fixture.finish(next.message, tools));
      }
      return counts;
    },

    execution: ({ executionId: id }: ExecutionMessage) => readExecution({ table }, { organization, id }),

    dump: () => counted(dumpOf(table, organization)),
  };
  return fixture;
}

/** The step of an execution that asks a question. */
export type Purpose = 'work' | 'selfTest' | 'qaReview';

export function purposeOf({ system, user }: Question): Purpose {
  if (system === selfTestPrompt) return 'selfTest';
  return user.endsWith(verdictLine) ? 'qaReview' : 'work';
}

/** The answer of a model to a question, or a function that returns it. */
type Says = ModelAnswer | ((question: Question) => ModelAnswer | Promise<ModelAnswer>);

export const text = (text: string, tokens = 0): ModelAnswer => ({ kind: 'text', text, tokens });

/** Creates a model with the given answers; by default `Done.` for 100 tokens, and `PASS` for 10 and 1. */
export function scriptedModel(says: Partial<Record<Purpose, Says>> = {}) {
  const script = {
    work: text('Done.', 100),
    selfTest: text('VERDICT: PASS', 10),
    qaReview: text('VERDICT: PASS', 1),
    ...says,
  };
  const asked: (Question & { purpose: Purpose })[] = [];
  const model: Model = async (question) => {
    const purpose = purposeOf(question);
    asked.push({ ...question, purpose });
    const said = script[purpose];
    return typeof said === 'function' ? said(question) : said;
  };
  const tools: RunResources = { model, catalogue: [], agentTools: { grantedTools, callTool: callAgentTool } };
  return { tools, asked, times: (purpose: Purpose) => asked.filter((one) => one.purpose === purpose).length };
}

/** Returns items without the fields that a worker writes when it counts tokens late. */
export const withoutTokens = (items: unknown): unknown =>
  JSON.parse(JSON.stringify(items, (name, value) => (/^tokens|^late$|^stepCount$/.test(name) ? undefined : value)));

/** Answers only when the signal aborts. */
export const silent = ({ signal }: Question): Promise<ModelAnswer> =>
  new Promise((resolve) => {
    const end = () => resolve({ kind: 'aborted', tokens: 0 });
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
