import { AsyncLocalStorage } from 'node:async_hooks';
import type { Table } from '../../../lib/table/client.ts';
import { createShards } from '../../../lib/table/shards.ts';
import { type Ended, type KillableWorker, runKillable } from '../../killable.ts';
import type { Clock } from '../../service.ts';
import { dynamodbError } from '../../table/dynamodb-errors.ts';
import { interceptTable } from '../../table/intercepted-table.ts';

/** Where a fault can strike: what a worker calls of its collaborators. */
export type Point = keyof typeof requests | 'write a task' | 'post' | 'send' | 'send to the slow queue' | 'acknowledge';

/** The requests to the table that have a name, by what their JSON says. */
const requests = {
  hear: /#S#task/,
  append: /"PutRequest":\{"Item":\{"pk":"[^"]+#E"/,
  find: /"Keys":/,
  'begin late': /"Item":\{"pk":"[^"]+","sk":"L#/,
  pace: /SET #mark = :mark, slow|REMOVE slow/,
  record: /"PutRequest":\{"Item":\{"pk":"[^"]+#WD#[^"]+","sk":"A#/,
  unlist: /REMOVE #due/,
  list: /"IndexName"/,
  postpone: /#dueAt = :later/,
} as const;

/** A fault that is to strike. */
export type Fault = {
  at: Point;
  /** Before the call is carried out, once it is, or when half of its batch is. */
  when: 'before' | 'half' | 'after';
  /** The worker dies and says no more; or the call fails; or the table refuses it for its load. */
  how: 'dies' | 'fails' | 'throttles';
  /** How many calls it strikes: 1 unless it says so, and as many as come where it lasts until a moment. */
  times?: number;
  until?: number;
  /** How many calls it lets pass first. */
  after?: number;
};

/** A call that never answers. */
const never = new Promise<never>(() => {});

/** One run of a function: a killed one goes no further, in none of its branches. */
type Worker = KillableWorker & { trace: Trace };

/** What became of a worker's calls: the points at which they were carried out, and at which a fault struck. */
export type Trace = { carriedOut: Point[]; struck: Point[]; onCarriedOut?: (point: Point) => void };

export type Faults = ReturnType<typeof createFaults>;

function pointOf({ input }: { input: object }): Point | undefined {
  const said = JSON.stringify(input);
  return (Object.keys(requests) as (keyof typeof requests)[]).find((name) => requests[name].test(said));
}

/** The faults of a pipeline: they strike at named points, whichever worker comes there first. */
export function createFaults(clock: Clock) {
  const planned: Fault[] = [];
  const workers = new AsyncLocalStorage<Worker>();
  const points = new AsyncLocalStorage<Point>();
  const idle = new Set<Fault>();

  /** The fault that strikes a call, if one does. */
  function faultAt(point: Point): Fault | undefined {
    const fault = planned.find(({ at, until = Number.POSITIVE_INFINITY }) => at === point && clock() < until);
    if (!fault) return undefined;
    if (fault.after) {
      fault.after -= 1;
      return undefined;
    }
    idle.delete(fault);
    const { until, times = until === undefined ? 1 : Number.POSITIVE_INFINITY } = fault;
    fault.times = times - 1;
    if (fault.times === 0) planned.splice(planned.indexOf(fault), 1);
    return fault;
  }

  function strike({ how, at }: Fault, worker: Worker | undefined): Promise<never> {
    worker?.trace.struck.push(at);
    if (how === 'dies') {
      worker?.die();
      return never;
    }
    throw how === 'throttles' ? dynamodbError('ThrottlingException') : new Error(`No answer: ${at}.`);
  }

  return {
    /** Plans faults; several at one point strike one after the other. */
    plan(...faults: Fault[]): void {
      planned.push(...faults);
      for (const fault of faults) idle.add(fault);
    },

    /** The faults that have struck nothing: their test has tested nothing. */
    idle: (): Fault[] => [...idle],

    /** Carries a call out, with the fault that strikes it. `really` is told to carry out half of a batch. */
    async pass<Answer>(point: Point, really: (half: boolean) => Promise<Answer>): Promise<Answer> {
      const worker = workers.getStore();
      if (worker?.dead) return never;
      const fault = faultAt(point);
      if (fault?.when === 'before') return strike(fault, worker);
      const answer = await really(fault?.when === 'half');
      worker?.trace.carriedOut.push(point);
      worker?.trace.onCarriedOut?.(point);
      if (worker?.dead) return never;
      return fault ? strike(fault, worker) : answer;
    },

    /** Says that all requests of `work` are of one point. */
    step: <Answer>(point: Point, work: () => Promise<Answer>): Promise<Answer> => points.run(point, work),

    /** A table whose requests are struck at their points, and that waits no time between its tries. */
    table(table: Table): Table {
      const intercepted = interceptTable(table, (send, command) => {
        const point = points.getStore() ?? pointOf(command);
        if (point) return this.pass(point, send);
        return workers.getStore()?.dead ? never : send();
      });
      return { ...intercepted, sleep: async () => {}, shards: createShards() };
    },

    /**
     * Runs a worker until it is done, fails or is killed.
     *
     * @param trace is added what became of its calls
     */
    run(work: () => Promise<unknown>, trace: Trace = { carriedOut: [], struck: [] }): Promise<Ended> {
      return runKillable((mortal) => workers.run(Object.assign(mortal, { trace }), work));
    },
  };
}
