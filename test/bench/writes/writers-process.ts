import { processContext } from '../../../lib/context/context.ts';
import type { Task } from '../../../lib/contract/tasks/tasks.ts';
import { type Api, createApi, dataOf } from '../../api.ts';
import { type Answer, newCaller } from '../../service.ts';

/** The kind of write, the number of concurrent writers, and their time in ms. */
export type Load = { write: 'create' | 'move'; writers: number; ms: number };

/** The result of a load: successful writes and their number a second, responses `unavailable`, and the CPU time of all. */
export type Written = { done: number; perSecond: number; refused: number; cpuMs: number };

/** A message of the writers: `ready` at the start, then the result of each load. */
export type Said = 'ready' | Written;

type Created = Pick<Task, 'id' | 'status'>;
let api: Api;
let tasks: Created[][];

// A process of its own, forked by `writers.ts`: its handlers read the name of the table from the environment, as in Lambda.
const say = (said: Said) => process.send?.(said);
process.on('disconnect', () => process.exit());
process.on('message', async (load: Load) => {
  if (load.write === 'create') {
    api = createApi((await newCaller(processContext())).token);
    tasks = Array.from({ length: load.writers }, () => []);
  }
  say(await run(load));
});
say('ready');

async function run({ write, ms }: Load): Promise<Written> {
  let [done, refused] = [0, 0];
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const cpu = process.cpuUsage();
  const writer = async (own: Created[]) => {
    for (let nth = 0; elapsed() < ms; nth++) {
      const task = own[nth % own.length];
      if (write === 'move' && !task) return;
      const { status } = task && write === 'move' ? await move(task) : await create(own);
      if (status === 503) refused += 1;
      else if (status < 300) done += 1;
      else throw new Error(`A write was answered ${status}.`);
    }
  };
  await Promise.all(tasks.map(writer));
  const { user, system } = process.cpuUsage(cpu);
  return { done, perSecond: (done * 1000) / elapsed(), refused, cpuMs: (user + system) / 1000 };
}

async function create(own: Created[]): Promise<Answer> {
  const answer = await api.createTask({ body: { title: 'A task' } });
  if (answer.status === 201) own.push(dataOf(answer));
  return answer;
}

async function move(task: Created): Promise<Answer> {
  const status = task.status === 'in_progress' ? 'qa_review' : 'in_progress';
  const answer = await api.updateTask({ params: { id: task.id }, body: { status } });
  if (answer.status === 200) task.status = status;
  return answer;
}
