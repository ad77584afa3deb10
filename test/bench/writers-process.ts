import { handler as createTask } from '../../functions/kanban-tasks/create-task.ts';
import { handler as updateTask } from '../../functions/kanban-tasks/update-task.ts';
import { processContext } from '../../lib/context.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { type Answer, call, newCaller } from '../service.ts';

/** So many writers at once, for so many ms, of tasks that are all one agent's or nobody's. */
export type Load = { write: 'create' | 'move'; writers: number; ms: number; agent: string | undefined };

/** What is asked of the writers: to make tasks in a new organization, or to move those that each has made last. */
type Question = Load;

/**
 * What they say: when each write was done, in ms from the start, how many were refused as `unavailable`, the CPU time
 * of all, and the organization; `ready` first of all.
 */
export type Written = { doneAt: number[]; refused: number; cpuMs: number; organization: Organization };
export type Said = 'ready' | Written;

type Made = { id: string; status: string };
let organization: Organization;
let token: string;
let tasks: Made[][];

// A process of its own, forked by `writers.ts`: its handlers read where the table is from the process, as in Lambda.
const say = (said: Said) => process.send?.(said);
process.on('disconnect', () => process.exit());
process.on('message', async (load: Question) => {
  if (load.write === 'create') {
    ({ organization, token } = await newCaller(processContext()));
    tasks = Array.from({ length: load.writers }, () => []);
  }
  say(await carryOut(load));
});
say('ready');

async function carryOut({ write, ms, agent }: Load): Promise<Written> {
  const doneAt: number[] = [];
  let refused = 0;
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const cpu = process.cpuUsage();
  const writer = async (own: Made[]) => {
    for (let nth = 0; elapsed() < ms; nth++) {
      const task = own[nth % own.length];
      if (write === 'move' && !task) return;
      const { status } = task && write === 'move' ? await move(task) : await create(agent, own);
      if (status === 503) refused += 1;
      else if (status < 300) doneAt.push(elapsed());
      else throw new Error(`A write was answered ${status}.`);
    }
  };
  await Promise.all(tasks.map(writer));
  const { user, system } = process.cpuUsage(cpu);
  return { doneAt, refused, cpuMs: (user + system) / 1000, organization };
}

const path = '/api/kanban-tasks';

async function create(agent: string | undefined, own: Made[]): Promise<Answer> {
  const body = { title: 'A task', ...(agent && { assignedAgent: agent }) };
  const answer = await call(createTask, { method: 'POST', path, body, token });
  if (answer.status === 201) own.push(answer.body.data as unknown as Made);
  return answer;
}

async function move(task: Made): Promise<Answer> {
  const status = task.status === 'in_progress' ? 'qa_review' : 'in_progress';
  const params = { id: task.id };
  const sent = { method: 'PATCH', path: `${path}/${task.id}`, params, body: { status }, token };
  const answer = await call(updateTask, sent);
  if (answer.status === 200) task.status = status;
  return answer;
}
