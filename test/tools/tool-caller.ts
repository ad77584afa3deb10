import { expect } from 'vitest';
import { createContext } from '../../lib/context/context.ts';
import { toolCapabilities } from '../../lib/contract/agents/agents.ts';
import type { ErrorDetail } from '../../lib/contract/errors.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import type { Table } from '../../lib/table/access/client.ts';
import { keys } from '../../lib/table/access/keys.ts';
import { getItem } from '../../lib/table/access/reads.ts';
import { AlreadyDone } from '../../lib/table/access/transact.ts';
import type { Write } from '../../lib/table/access/write.ts';
import type { StoredAgent } from '../../lib/table/agents/agent-items.ts';
import type { PreparedAgent } from '../../lib/table/agents/prepared-agents.ts';
import type { RunningExecution } from '../../lib/table/executions/execution-items.ts';
import { leaseExecution } from '../../lib/table/executions/executions.ts';
import { LeaseLost } from '../../lib/table/executions/lease-writes.ts';
import { callAgentTool, type ToolOutcome } from '../../lib/tools/agent-tools.ts';
import { createExecutionTable, lease } from '../table/executions/execution-table.ts';

/** The skills of the deployment. */
const catalogue = ['drawing', 'reading'].map((name) => ({
  ...{ id: `sk_${name}`, name, description: `${name}, described`, body: `How to do ${name}.` },
}));

/** The output of a call, parsed. */
type Output = {
  data?: unknown;
  pagination?: unknown;
  note?: string;
  error?: { code: string; message: string; details?: ErrorDetail[] };
};

/** A step of an execution: its own record, written under the lease. */
type Step = { execution: RunningExecution; number: number };

/** Returns the writes that end a step of a test: they fail without the lease, and if the step has ended already. */
const endOf =
  ({ execution: { organization, id, claim }, number }: Step) =>
  ({ output }: ToolOutcome): Write[] => [
    {
      Put: { Item: { ...stepKey(organization, id, number), output }, ConditionExpression: 'attribute_not_exists(pk)' },
      onConditionFailed: () => new AlreadyDone(),
    },
    {
      ConditionCheck: {
        Key: keys.executionHead(organization, ulidOf(id)),
        ConditionExpression: 'claim = :claim',
        ExpressionAttributeValues: { ':claim': claim },
      },
      onConditionFailed: () => new LeaseLost(),
    },
  ];

const stepKey = (organization: RunningExecution['organization'], id: string, number: number) => ({
  pk: keys.execution(organization, ulidOf(id)),
  sk: `TEST#${number}`,
});

/** The options of a call; by default a new step of the execution of `worker`. */
type CallOptions = { execution?: RunningExecution; through?: Table; step?: Step; by?: StoredAgent };

export type ToolCaller = Awaited<ReturnType<typeof createToolCaller>>;

/** Creates an organization with the agent `worker`, whose execution calls tools, and the agents `writer` and `helper`. */
export async function createToolCaller({ skills = ['drawing'], cap = 50, systemPrompt = '' } = {}) {
  const board = await createExecutionTable(cap);
  const { organization, table } = board;
  const agent = await board.createAgent('worker', { capabilities: [...toolCapabilities], systemPrompt });
  const helper = await board.createAgent('helper');
  const assigned = skills.map((name) => ({ id: `sk_${name}`, assignedAt: '2026-01-01T00:00:00.000Z' }));
  let number = 0;

  /** Starts and leases an execution, by default of `worker`. */
  const execute = async (fields: Partial<RunningExecution> = {}, by: StoredAgent = agent) => {
    const { taskId } = fields;
    const started = taskId ? await board.startOn(taskId, by) : await board.start(board.newExecution(fields, by));
    return (await leaseExecution(board, started, lease(`lease of ${started.id}`))) as RunningExecution;
  };
  const own = await execute();

  /** Calls a tool as a step of an execution, and returns the outcome with its output parsed. */
  const call = async (
    name: string,
    input: Record<string, unknown> | 'unreadable' = {},
    { execution = own, through = table, step = { execution, number: ++number }, by = agent }: CallOptions = {},
  ) => {
    const prepared: PreparedAgent = { agent: by, skills: assigned };
    const context = {
      ...createContext({ environment: {}, clock: board.clock, table: through }),
      ...board,
      table: through,
    };
    const toolCall = { name, input: input === 'unreadable' ? undefined : input };
    const called = await callAgentTool(context, execution, prepared, catalogue, toolCall, endOf(step));
    const record = await getItem(table, stepKey(organization, step.execution.id, step.number));
    expect(record?.output).toBe(called.recorded ? called.outcome.output : undefined);
    return { ...called, output: JSON.parse(called.outcome.output) as Output };
  };

  return {
    ...{ board, organization, agent, helper, execution: own, execute, call },

    /** Calls a tool, which must succeed; returns the data. */
    async success<Data>(...args: Parameters<typeof call>): Promise<Data> {
      const { outcome, output } = await call(...args);
      expect(outcome).toEqual({ output: expect.any(String), isError: false });
      return output.data as Data;
    },

    /** Calls a tool, which must be rejected without a change; returns the error code, and `invalid` for an invalid call. */
    async rejection(...args: Parameters<typeof call>): Promise<string[]> {
      const before = await board.dump();
      const { outcome, output, recorded } = await call(...args);
      expect([outcome.isError, recorded]).toEqual([true, false]);
      expect(await board.dump()).toEqual(before);
      return [output.error?.code as string, ...(outcome.isInvalid ? ['invalid'] : [])];
    },
  };
}
