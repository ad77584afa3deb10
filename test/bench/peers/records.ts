import { type Api, paginationOf, successOf } from '../../api.ts';
import type { Bench } from '../bench.ts';
import { figure } from '../page/figures.ts';
import { byCallers } from '../scenario.ts';
import { cpuUsedBy, startService, unlimited } from '../service.ts';
import { type Comparison, callers, fewCallers, type Prepared, type Size } from './comparison.ts';
import { type Board, type BoardService, type NewTask, pocketbase } from './pocketbase.ts';

type Boards = { small: Board; large: Board; ids: readonly string[] };

/** Requests to boards of tasks, beside PocketBase. */
export function records(bench: Bench, { requests, smallBoard, largeBoard }: Size): Comparison<BoardService, Boards> {
  const costOf = async (setup: Prepared<BoardService, Boards>, send: (nth: number) => Promise<unknown>) => {
    let sent = 0;
    return (await cpuUsedBy(setup, () => byCallers(fewCallers, requests, () => send(sent++)))) / requests;
  };
  let patched = 0;
  return {
    peer: pocketbase,
    async startOwn() {
      // One organization creates all tasks of a board, faster than the default limit.
      const service = await startService(bench, { environment: unlimited });
      return { ...service, openBoard: async () => boardOf(await service.newOrganization()) };
    },
    async prepare({ name, openBoard }) {
      const [small, large] = [await openBoard('small'), await openBoard('large')];
      await write(small, smallBoard);
      const total = await small.list('done');
      if (total !== smallBoard / 2) throw new Error(`${name} lists ${total} done tasks of ${smallBoard}.`);
      bench.say(`${name}: creating ${figure(largeBoard)} tasks`);
      return { small, large, ids: await write(large, largeBoard) };
    },
    figures: {
      small: { name: `list of ${figure(smallBoard)} tasks`, decimals: 2 },
      large: { name: `list of ${figure(largeBoard)} tasks`, decimals: 2 },
      get: { name: 'get', decimals: 2 },
      create: { name: 'create', decimals: 2 },
      patch: { name: 'patch of a status', decimals: 2 },
    },
    measurements: [
      async (setup) => ({ small: await costOf(setup, () => setup.ready.small.list('done')) }),
      async (setup) => ({ large: await costOf(setup, () => setup.ready.large.list('done')) }),
      async (setup) => {
        const { large, ids } = setup.ready;
        return { get: await costOf(setup, (nth) => large.get(ids[nth % ids.length] as string)) };
      },
      async (setup) => ({ create: await costOf(setup, (nth) => setup.ready.large.create(taskOf(nth))) }),
      async (setup) => {
        const { large, ids } = setup.ready;
        // No task is patched twice, and none has this status before.
        return { patch: await costOf(setup, () => large.patch(ids[patched++] as string, 'in_progress')) };
      },
    ],
  };
}

/** A board of this service: the tasks of an organization. */
function boardOf(api: Api): Board {
  return {
    create: async (task) => successOf(await api.createTask({ body: task })).id,
    get: async (id) => successOf(await api.getTask({ params: { id } })),
    patch: async (id, status) => successOf(await api.updateTask({ params: { id }, body: { status } })),
    async list(status) {
      const answer = await api.listTasks({ query: `limit=20&status=${status}` });
      successOf(answer);
      return paginationOf(answer).total;
    },
  };
}

async function write(board: Board, count: number): Promise<string[]> {
  const ids: string[] = [];
  let written = 0;
  await byCallers(callers, count, async () => {
    ids.push(await board.create(taskOf(written++)));
  });
  return ids;
}

/** Returns a task of a board: every second one is done. */
const taskOf = (nth: number): NewTask => ({
  title: `Task ${nth}`,
  description: 'x'.repeat(650),
  status: nth % 2 === 0 ? 'done' : 'backlog',
});
