import { AsyncLocalStorage } from 'node:async_hooks';
import type { Table } from '../../../lib/table/access/client.ts';
import { createShards } from '../../../lib/table/access/shards.ts';
import { type Ended, type KillableWorker, runKillable } from '../../killable.ts';
import type { Clock } from '../../service.ts';
import { dynamodbError } from '../../table/fixtures/dynamodb-errors.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';

/** The requests to the table that have a name, by a pattern of their JSON. */
const requests = {
  'find subscribers': /#S#task/,
  append: /"PutRequest":\{"Item":\{"pk":"[^"]+#E","sk":"[0-7]/,
  'list late': /"PutRequest":\{"Item":\{"pk":"[^"]+#E","sk":"L#/,
  'plan check': /"PutRequest":\{"Item":\{"pk":"[^"]+#EC"/,
  'end check': /#entry = :entry/,
  find: /"Keys":/,
  'begin late': /"Item":\{"pk":"[^"]+","sk":"L#/,
  pace: /SET #mark = :mark, slow|REMOVE slow/,
  'store redelivery': /"Item":\{"pk":"[^"]+","sk":"R#/,
  'store pause': /#pauses = :new_pauses/,
  'read webhook': /"Key":\{"pk":"[^"]+#W","sk":"[^"]+"\},"ConsistentRead"/,
  park: /"PutRequest":\{"Item":\{"pk":"[^"]+#WP#[^"]+","sk":"P#/,
  permit: /permittedUntil = /,
  book: /bookedUntil = /,
  'store waiting': /"Item":\{"pk":"[^"]+","sk":"P#/,
  'read parked': /":from":"P#"/,
  'list again': /#listed = :listed/,
  'remove parked': /"Key":\{"pk":"[^"]+","sk":"P#/,
  'remove release': /"Key":\{"pk":"[^"]+#WP","sk":"[^"]+"\},"ConditionExpression"/,
  'store recovery': /"Item":\{"pk":"[^"]+#WR#/,
  'store progress': /#taken = :taken/,
  record: /"PutRequest":\{"Item":\{"pk":"[^"]+#WD#[^"]+","sk":"A#/,
  unlist: /REMOVE #due/,
  list: /"IndexName"/,
  postpone: /#dueAt = :later/,
} as const;
const requestNames = Object.keys(requests) as (keyof typeof requests)[];

export const points = [...requestNames, 'post', 'send', 'send to the slow queue', 'acknowledge'] as const;
export type Point = (typeof points)[number] | 'write a task';

export type Fault = {
  at: Point;
  /** Before the call is carried out, after it, or after half of its batch. */
  when: 'before' | 'half' | 'after';
  /** The worker dies, the call fails, or the table throttles it. */
  how: 'dies' | 'fails' | 'throttles';
  /** The number of calls that it strikes: by default 1, and all calls with `until`. */
  times?: number;
  until?: number;
  /** The number of calls that pass first. */
  after?: number;
};

/** Creates a fault from a text such as `dies before send`. */
export function fault(
  text: `${Fault['how']} ${Fault['when']} ${Point}`,
  more: Pick<Fault, 'times' | 'until' | 'after'> = {},
): Fault {
  const [, how, when, at] = /^(\w+) (\w+) (.+)$/.exec(text) ?? [];
  return { how, when, at, ...more } as Fault;
}

const never = new Promise<never>(() => {});

/** One run of a function. A dead worker makes no further calls. */
type Worker = KillableWorker & { trace: Trace };

/** The points at which calls of a worker were carried out, and at which a fault struck. */
export type Trace = { carriedOut: Point[]; struck: Point[]; onCarriedOut?: (point: Point) => void };

export type Faults = ReturnType<typeof createFaults>;

/** Creates the faults of a pipeline: each strikes the first worker that reaches its point. */
export function createFaults(clock: Clock) {
  const planned: Fault[] = [];
  const workers = new AsyncLocalStorage<Worker>();
  const points = new AsyncLocalStorage<Point>();
  const idle = new Set<Fault>();

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

  /** Carries a call out, with the fault that strikes it. `really` gets whether to carry out half of a batch only. */
  async function pass<Answer>(point: Point, really: (half: boolean) => Promise<Answer>): Promise<Answer> {
    const worker = workers.getStore();
    if (worker?.dead) return never;
    const fault = faultAt(point);
    if (fault?.when === 'before') return strike(fault, worker);
    const answer = await really(fault?.when === 'half');
    worker?.trace.carriedOut.push(point);
    worker?.trace.onCarriedOut?.(point);
    if (worker?.dead) return never;
    return fault ? strike(fault, worker) : answer;
  }

  return {
    pass,

    /** Plans faults; several at one point strike one after the other. */
    plan(...faults: Fault[]): void {
      // The counts of a copy change: a sequence that is repeated or shrunk has the same faults again.
      for (const fault of faults.map((one) => ({ ...one }))) {
        planned.push(fault);
        idle.add(fault);
      }
    },

    idle: (): Fault[] => [...idle],

    /** Removes all planned faults. */
    clear(): void {
      planned.length = 0;
      idle.clear();
    },

    /** Makes all requests of `work` calls of one point. */
    step: <Answer>(point: Point, work: () => Promise<Answer>): Promise<Answer> => points.run(point, work),

    /** Returns a table whose requests are struck at their points, without waits between retries. */
    table(table: Table): Table {
      const intercepted = interceptTable(table, (send, { input }) => {
        const text = JSON.stringify(input);
        const point = points.getStore() ?? requestNames.find((name) => requests[name].test(text));
        if (point) return pass(point, send);
        return workers.getStore()?.dead ? never : send();
      });
      return { ...intercepted, sleep: async () => {}, shards: createShards() };
    },

    /** Runs a worker until it is done, fails or dies, and adds its calls to `trace`. */
    run(work: () => Promise<unknown>, trace: Trace = { carriedOut: [], struck: [] }): Promise<Ended> {
      return runKillable((mortal) => workers.run(Object.assign(mortal, { trace }), work));
    },
  };
}
