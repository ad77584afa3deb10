import { readExecutionHead } from '../../lib/table/executions.ts';
import { fc } from '../seeded.ts';
import { seedAgents, storedAgent } from '../table/agent-seed.ts';
import { errorOf } from '../table/board.ts';
import { faultsOf } from '../table/oracle.ts';
import { openWorkshop, scriptedModel, text } from './workshop.ts';

/** An execution as the graph knows it: whose, on what, who handed it on, and what that one surely ran then. */
type Run = { id: string; agent: string; taskId: string | undefined; by?: string; parents: Run[]; status: string };

/** What somebody does; the numbers choose among what there is at that moment. */
type Step = { does: 'execute' | 'delegate' | 'end'; who: number; whom: number; what: number };

const names = Array.from({ length: 200 }, (_, nth) => `agent-${nth}`);
const number = fc.nat(2 ** 30);
const does = fc.constantFrom('execute', 'end', 'end', 'end', ...Array(6).fill('delegate')) as fc.Arbitrary<
  Step['does']
>;

/** So many steps of chance. */
export const steps = (count: number): fc.Arbitrary<Step[]> =>
  fc.array(fc.record({ does, who: number, whom: number, what: number }), { minLength: count, maxLength: count });

const chosen = <Value>(values: readonly Value[], by: number): Value => values[by % values.length] as Value;

/** Who has had what an execution is about, by every way that it came. */
const lineOf = ({ by, parents }: Pick<Run, 'by' | 'parents'>): string[] =>
  by === undefined ? [] : [by, ...parents.flatMap(lineOf)];
const hopsTo = ({ by, parents }: Pick<Run, 'by' | 'parents'>): number =>
  by === undefined ? 0 : 1 + Math.max(0, ...parents.map(hopsTo));

/**
 * Has 200 agents take steps, so many at once: they are executed, hand on, and come to an end, on three tasks and on none.
 *
 * @returns what is wrong in the end, and how many there were of each answer
 */
export async function runGraph(
  taken: readonly Step[],
  atOnce: number,
): Promise<{ wrong: string[]; answers: Record<string, number>; deepest: number }> {
  const workshop = await openWorkshop({ cap: 1_000 });
  const { organization, table, clock } = workshop;
  await seedAgents(
    table,
    organization,
    names.map((name) => storedAgent({ name }, clock())),
  );
  const tasks = [undefined, ...(await Promise.all([1, 2, 3].map(() => workshop.put()))).map(({ id }) => id)];
  const runs: Run[] = [];
  const running = () => runs.filter(({ status }) => status === 'running');
  const wrong: string[] = [];
  const answers: Record<string, number> = {};
  let count = 0;
  const ended: string[] = [];
  const heard: string[] = [];
  const { tools } = scriptedModel({
    work: ({ user }) => {
      heard.push(/<input>\n(.*)\n<\/input>/.exec(user)?.[1] as string);
      return heard.length % 4 === 0 ? { kind: 'failed', error: 'No.', tokens: 1 } : text('Done.', 100);
    },
  });
  const said = new Map<string, string>();

  async function execute({ who, what }: Step): Promise<void> {
    const [agent, taskId, input] = [chosen(names, who), chosen(tasks, what), `Step ${++count}.`];
    const { executionId: id } = await workshop.start({ input, ...(taskId && { taskId }) }, agent);
    said.set(id, input);
    runs.push({ id, agent, taskId, parents: [], status: 'running' });
  }

  /** Four of five hand on what they are at, and half of them to one of those that are at something. */
  async function delegate({ who, whom, what }: Step, before: readonly Run[]): Promise<void> {
    const own = what % 5 > 0 && before.length > 0 ? chosen(before, who) : undefined;
    const by = own?.agent ?? chosen(names, who);
    const taskId = own ? own.taskId : chosen(tasks, what);
    const busy = before.filter((run) => run.taskId === taskId).map(({ agent }) => agent);
    const agent = chosen(whom % 2 > 0 && busy.length > 0 ? busy : names, whom >> 1);
    const instruction = `Step ${++count}.`;
    const mayBe = (run: Run) => run.agent === by && run.taskId === taskId;
    const handed = workshop.delegate(by, agent, { instruction, ...(taskId && { taskId }) });
    const answer = (await errorOf(handed))?.code ?? 'accepted';
    answers[answer] = (answers[answer] ?? 0) + 1;
    // What was at work before and still is when the answer is there is surely what was handed on.
    const run = { agent, taskId, by, parents: before.filter((one) => mayBe(one) && one.status === 'running') };
    const expected = answerTo(run);
    if (atOnce === 1 && answer !== expected) wrong.push(`${by} to ${agent}: ${answer}, not ${expected}`);
    if (answer !== 'accepted') return;
    if (expected !== 'accepted') wrong.push(`${by} to ${agent} was accepted in spite of ${expected}`);
    const id = (await handed).message.executionId;
    said.set(id, instruction);
    runs.push({ id, ...run, status: 'running' });
  }

  async function end(run: Run | undefined): Promise<void> {
    if (run?.status !== 'running') return;
    run.status = 'ending';
    ended.push(run.id);
    await workshop.run({ organization, executionId: run.id }, tools);
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

  const heads = await Promise.all(runs.map(({ id }) => readExecutionHead(workshop.context, { organization, id })));
  for (const [nth, run] of runs.entries()) {
    const { agentId = '', ancestors = [], depth = 0 } = heads[nth] ?? {};
    if (depth > 3 || depth < hopsTo(run)) wrong.push(`${run.id} is ${depth} deep, not ${hopsTo(run)}`);
    if (ancestors.includes(agentId)) wrong.push(`${run.id} has come back`);
    if (ancestors.length < new Set(lineOf(run)).size) wrong.push(`${run.id} forgets who has had it`);
  }
  const sorted = (texts: Iterable<string>) => [...texts].sort().join(' ');
  if (sorted(heard) !== sorted(said.values())) wrong.push(`The model was asked ${heard.length} times`);
  if (ended.length !== runs.length || heads.some((head) => head?.status === 'running')) wrong.push('Some run still');
  wrong.push(...(await faultsOf(table, organization)));
  return { wrong, answers, deepest: Math.max(...heads.map((head) => head?.depth ?? 0)) };
}

/** What a delegation is to be answered, by the plain definitions. */
function answerTo({ agent, ...handed }: Pick<Run, 'agent' | 'by' | 'parents'>): string {
  if (agent === handed.by) return 'self_delegation';
  if (lineOf(handed).includes(agent)) return 'delegation_cycle';
  return hopsTo(handed) > 3 ? 'delegation_too_deep' : 'accepted';
}
