import { inBatches } from '../../aws/in-batches.ts';
import type { Context } from '../../context/context.ts';

/** The most times of a webhook that one write takes. */
const blockSize = 50;

/** How requests with the same name get their times. */
export type TimeSource<Request> = {
  /** The most times of a block; 50 if absent. */
  most?: number;
  /**
   * Takes the next times (Unix times, in ms) by one write; returns `undefined` if there are none now.
   *
   * @param requests the requests of the turn
   * @param last the last time of the block before, if there was one
   */
  take: (count: number, requests: readonly Request[], last?: number) => Promise<number[] | undefined>;
};

/**
 * Requests the next time of a webhook. The requests of one turn of the event loop that have the same name share blocks of times,
 * each of which is one write.
 *
 * @returns `undefined` if there is no time now
 */
export function requestTime<Request>(
  { timeRequests }: Pick<Context, 'timeRequests'>,
  name: string,
  request: Request,
  source: TimeSource<Request>,
): Promise<number | undefined> {
  const add =
    timeRequests.get(name) ??
    inBatches<unknown, number | undefined>(Number.POSITIVE_INFINITY, (requests) => {
      timeRequests.delete(name);
      return takeTimes(requests as Request[], source);
    });
  timeRequests.set(name, add);
  return add(request);
}

/** Takes a time for each request, block by block, until a block is refused. */
async function takeTimes<Request>(
  requests: readonly Request[],
  { most = blockSize, take }: TimeSource<Request>,
): Promise<(number | undefined)[]> {
  const times: number[] = [];
  while (times.length < requests.length) {
    const count = Math.min(blockSize, most, requests.length - times.length);
    const block = await take(count, requests, times.at(-1));
    if (!block) break;
    times.push(...block);
  }
  return requests.map((_, at) => times[at]);
}
