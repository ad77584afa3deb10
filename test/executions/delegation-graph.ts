import { readExecutionHead } from '../../lib/table/executions/executions.ts';
import { fc } from '../seeded.ts';
import { seedAgents, storedAgent } from '../table/agents/agent-seed.ts';
import { errorOf } from '../table/tasks/board.ts';
import { faultsOf } from '../table/tasks/oracle.ts';
import { createTestExecutions, scriptedModel, text } from './test-executions.ts';

/** An execution: its agent, its task, the delegating agent, and the executions that this agent was running then. */
type GraphExecution = {
  id: string;
  agent: string;
  taskId: string | undefined;
  by?: string;
  parents: GraphExecution[];
  status: string;
};

/** An action; the numbers choose among the agents, executions and tasks that exist at that moment. */
type Step = { does: 'execute' | 'delegate' | 'end'; who: number; whom: number; what: number };

const names = Array.from({ length: 200 }, (_, nth) => `agent-${nth}`);
const number = fc.nat(2 ** 30);
const does = fc.constantFrom('execute', 'end', 'end', 'end', ...Array(6).fill('delegate')) as fc.Arbitrary<
  Step['does']
>;

/** Generates random steps. */
export const steps = (count: number): fc.Arbitrary<Step[]> =>
  fc.array(fc.record({ does, who: number, whom: number, what: number }), { minLength: count, maxLength: count });

const chosen = <Value>(values: readonly Value[], by: number): Value => values[by % values.length] as Value;

/** Returns the agents of all chains that lead to an execution. */
const ancestorsOf = ({ by, parents }: Pick<GraphExecution, 'by' | 'parents'>): string[] =>
  by === undefined ? [] : [by, ...parents.flatMap(ancestorsOf)];
/** Returns the number of delegations of the longest chain that leads to an execution. */
const hopsTo = ({ by, parents }: Pick<GraphExecution, 'by' | 'parents'>): number =>
  by === undefined ? 0 : 1 + Math.max(0, ...parents.map(hopsTo));

/**
 * Runs steps of 200 agents, `atOnce` at a time: starts, delegations and ends of executions, on three tasks and on none.
 *
 * @returns the faults that were found, the number of each result, and the depth of the longest chain
 */
export async function runGraph(
  taken: readonly Step[],
  atOnce: number,
): Promise<{ wrong: string[]; answers: Record<string, number>; deepest: number }> {
  const fixture = await createTestExecutions({ cap: 1_000 });
  const { organization, table, clock } = fixture;
  await seedAgents(
    table,
    organization,
    names.map((name) => storedAgent({ name }, clock())),
  );
  const tasks = [undefined, ...(await Promise.all([1, 2, 3].map(() => fixture.addTask()))).map(({ id }) => id)];
  const executions: GraphExecution[] = [];
  const running = () => executions.filter(({ status }) => status === 'running');
  const wrong: string[] = [];
  const answers: Record<string, number> = {};
  let count = 0;
  const ended: string[] = [];
  const carriedOut: string[] = [];
  const { tools } = scriptedModel({
    work: ({ user }) => {
      carriedOut.push(/<input>\n(.*)\n<\/input>/.exec(user)?.[1] as string);
      return carriedOut.length % 4 === 0 ? { kind: 'failed', error: 'No.', tokens: 1 } : text('Done.', 100);
    },
  });
  const inputs = new Map<string, string>();

  async function execute({ who, what }: Step): Promise<void> {
    const [agent, taskId, input] = [chosen(names, who), chosen(tasks, what), `Step ${++count}.`];
    const { executionId: id } = await fixture.start({ input, ...(taskId && { taskId }) }, agent);
    inputs.set(id, input);
    executions.push({ id, agent, taskId, parents: [], status: 'running' });
  }

  /** Four of five delegations continue a running execution, and half of these are to an agent with a running one. */
  async function delegate({ who, whom, what }: Step, before: readonly GraphExecution[]): Promise<void> {
    const own = what % 5 > 0 && before.length > 0 ? chosen(before, who) : undefined;
    const by = own?.agent ?? chosen(names, who);
    const taskId = own ? own.taskId : chosen(tasks, what);
    const busy = before.filter((execution) => execution.taskId === taskId).map(({ agent }) => agent);
    const agent = chosen(whom % 2 > 0 && busy.length > 0 ? busy : names, whom >> 1);
    const instruction = `Step ${++count}.`;
    const mayBe = (execution: GraphExecution) => execution.agent === by && execution.taskId === taskId;
    const handed = fixture.delegate(by, agent, { instruction, ...(taskId && { taskId }) });
    const answer = (await errorOf(handed))?.code ?? 'accepted';
    answers[answer] = (answers[answer] ?? 0) + 1;
    // An execution that is running before and after the request is certainly part of the chain.
    const execution = { agent, taskId, by, parents: before.filter((one) => mayBe(one) && one.status === 'running') };
    const expected = answerTo(execution);
    if (atOnce === 1 && answer !== expected) wrong.push(`${by} to ${agent}: ${answer}, not ${expected}`);
    if (answer !== 'accepted') return;
    if (expected !== 'accepted') wrong.push(`${by} to ${agent} was accepted in spite of ${expected}`);
    const id = (await handed).message.executionId;
    inputs.set(id, instruction);
    executions.push({ id, ...execution, status: 'running' });
  }

  async function end(execution: GraphExecution | undefined): Promise<void> {
    if (execution?.status !== 'running') return;
    execution.status = 'ending';
    ended.push(execution.id);
    await fixture.run({ organization, executionId: execution.id }, tools);
  }

  for (let at = 0; at < taken.length; at += atOnce) {
    const before = running();
    const step = async (one: Step) => {
      if (one.does === 'execute') await execute(one);
      else if (one.does === 'delegate') await delegate(one, before);
      else if (before.length > 0) await end(chosen(before, one.who));
    };
    await Promise.all(taken.slice(at, at + atOnce).map(step));
    clock.now += 100;
  }
  await Promise.all(running().map(end));

  const heads = await Promise.all(executions.map(({ id }) => readExecutionHead(fixture.context, { organization, id })));
  for (const [nth, execution] of executions.entries()) {
    const { agentId = '', ancestors = [], depth = 0 } = heads[nth] ?? {};
    if (depth > 3 || depth < hopsTo(execution))
      wrong.push(`${execution.id} is ${depth} deep, not ${hopsTo(execution)}`);
    if (ancestors.includes(agentId)) wrong.push(`${execution.id} has its own agent as an ancestor`);
    if (ancestors.length < new Set(ancestorsOf(execution)).size) wrong.push(`${execution.id} lacks an ancestor`);
  }
  const sorted = (texts: Iterable<string>) => [...texts].sort().join(' ');
  if (sorted(carriedOut) !== sorted(inputs.values())) wrong.push(`The model was asked ${carriedOut.length} times`);
  if (ended.length !== executions.length || heads.some((head) => head?.status === 'running'))
    wrong.push('Some executions are still running');
  wrong.push(...(await faultsOf(table, organization)));
  return { wrong, answers, deepest: Math.max(...heads.map((head) => head?.depth ?? 0)) };
}

/** Returns the expected result of a delegation, by the definitions of the rules. */
function answerTo({ agent, ...handed }: Pick<GraphExecution, 'agent' | 'by' | 'parents'>): string {
  if (agent === handed.by) return 'self_delegation';
  if (ancestorsOf(handed).includes(agent)) return 'delegation_cycle';
  return hopsTo(handed) > 3 ? 'delegation_too_deep' : 'accepted';
}
