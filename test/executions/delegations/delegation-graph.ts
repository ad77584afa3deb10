import { readExecutionHead } from '../../../lib/table/executions/executions.ts';
import { fc } from '../../seeded.ts';
import { seedAgents, storedAgent } from '../../table/agents/agent-seed.ts';
import { faultsOf } from '../../table/tasks/oracle.ts';
import { errorOf } from '../../table/tasks/test-table.ts';
import { createTestExecutions, scriptedModel } from '../test-executions.ts';

/** What a chain depends on: the delegating agent, and the executions that this agent was running then. */
type Delegated = { by?: string; parents: GraphExecution[] };

type GraphExecution = Delegated & { id: string; agent: string; taskId: string | undefined; isRunning: boolean };

/** An action; the numbers choose among the agents, executions and tasks that exist at that moment. */
type Step = { does: 'execute' | 'delegate' | 'end'; who: number; whom: number; what: number };

const names = Array.from({ length: 200 }, (_, nth) => `agent-${nth}`);
const number = fc.nat(2 ** 30);
const actions: Step['does'][] = ['execute', 'end', 'end', 'end', ...Array<'delegate'>(6).fill('delegate')];
const step = fc.record({ does: fc.constantFrom(...actions), who: number, whom: number, what: number });

/** Generates random steps. */
export const steps = (count: number): fc.Arbitrary<Step[]> => fc.array(step, { minLength: count, maxLength: count });

const chosen = <Value>(values: readonly Value[], by: number): Value => values[by % values.length] as Value;

/** Returns the agents of all chains that lead to an execution. */
const ancestorsOf = ({ by, parents }: Delegated): string[] =>
  by === undefined ? [] : [by, ...parents.flatMap(ancestorsOf)];

/** Returns the number of delegations of the longest chain that leads to an execution. */
const depthOf = ({ by, parents }: Delegated): number =>
  by === undefined ? 0 : 1 + Math.max(0, ...parents.map(depthOf));

/** Returns whether the rules allow a delegation to an agent. */
const isAllowed = (agent: string, delegated: Delegated): boolean =>
  !ancestorsOf(delegated).includes(agent) && depthOf(delegated) <= 3;

/** Runs steps of 200 agents on three tasks and on none; returns the faults, and the depth of the longest chain. */
export async function runGraph(taken: readonly Step[], atOnce: number): Promise<{ wrong: string[]; deepest: number }> {
  const fixture = await createTestExecutions({ cap: 1_000 });
  const { organization, table, clock } = fixture;
  const agents = names.map((name) => storedAgent({ name }, clock()));
  await seedAgents(table, organization, agents);
  const tasks = [undefined, ...(await Promise.all([1, 2, 3].map(() => fixture.addTask()))).map(({ id }) => id)];
  const executions: GraphExecution[] = [];
  const running = () => executions.filter(({ isRunning }) => isRunning);
  const wrong: string[] = [];

  async function execute({ who, what }: Step): Promise<void> {
    const [agent, taskId] = [chosen(names, who), chosen(tasks, what)];
    const { executionId: id } = await fixture.start(taskId ? { taskId } : {}, agent);
    executions.push({ id, agent, taskId, parents: [], isRunning: true });
  }

  /** Four of five delegations continue a running execution, and half of these are to an agent with a running one. */
  async function delegate({ who, whom, what }: Step, before: readonly GraphExecution[]): Promise<void> {
    const own = what % 5 > 0 && before.length > 0 ? chosen(before, who) : undefined;
    const by = own?.agent ?? chosen(names, who);
    const taskId = own ? own.taskId : chosen(tasks, what);
    const onTask = before.filter((execution) => execution.taskId === taskId);
    const busy = onTask.map(({ agent }) => agent);
    const agent = chosen(whom % 2 > 0 && busy.length > 0 ? busy : names, whom >> 1);
    const request = fixture.delegate(by, agent, taskId ? { taskId } : {});
    const isAccepted = !(await errorOf(request));
    // An execution that is running before and after the request is certainly part of the chain.
    const delegated = { by, parents: onTask.filter((one) => one.agent === by && one.isRunning) };
    if (isAccepted !== isAllowed(agent, delegated) && (atOnce === 1 || isAccepted))
      wrong.push(`${by} to ${agent} is ${isAccepted ? 'accepted' : 'rejected'}`);
    if (!isAccepted) return;
    const id = (await request).message.executionId;
    executions.push({ id, agent, taskId, ...delegated, isRunning: true });
  }

  async function end(execution: GraphExecution): Promise<void> {
    if (!execution.isRunning) return;
    execution.isRunning = false;
    await fixture.run({ organization, executionId: execution.id }, scriptedModel().tools);
  }

  for (let at = 0; at < taken.length; at += atOnce) {
    const before = running();
    const take = async (one: Step) => {
      if (one.does === 'execute') await execute(one);
      else if (one.does === 'delegate') await delegate(one, before);
      else if (before.length > 0) await end(chosen(before, one.who));
    };
    await Promise.all(taken.slice(at, at + atOnce).map(take));
    clock.now += 100;
  }
  await Promise.all(running().map(end));

  const heads = await Promise.all(executions.map(({ id }) => readExecutionHead(fixture.context, { organization, id })));
  for (const [nth, execution] of executions.entries()) {
    const { agentId = '', ancestors = [], depth = 0, status } = heads[nth] ?? {};
    const { id } = execution;
    if (depth > 3 || depth < depthOf(execution)) wrong.push(`${id} is ${depth} deep, not ${depthOf(execution)}`);
    if (ancestors.includes(agentId)) wrong.push(`${id} has its own agent as an ancestor`);
    if (ancestors.length < new Set(ancestorsOf(execution)).size) wrong.push(`${id} lacks an ancestor`);
    if (status !== 'completed') wrong.push(`${id} is ${status}`);
  }
  wrong.push(...(await faultsOf(table, organization)));
  return { wrong, deepest: Math.max(...heads.map((head) => head?.depth ?? 0)) };
}
