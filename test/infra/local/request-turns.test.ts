import { beforeEach, describe, expect, it } from 'vitest';
import { createRequestTurns, type RequestTurns } from '../../../infra/local/request-turns.ts';

describe('the turns of requests', () => {
  let planned: (() => void)[];
  let turns: RequestTurns;
  let begun: string[];
  beforeEach(() => {
    planned = [];
    begun = [];
    turns = createRequestTurns(2, (begin) => planned.push(begin));
  });

  const request = (...names: string[]) => {
    for (const name of names) void turns().then(() => begun.push(name));
  };
  /** Ends the turn of the event loop, with the promises that it has resolved. */
  const nextTurn = async () => {
    await Promise.resolve();
    for (const begin of planned.splice(0)) begin();
    await Promise.resolve();
  };

  it('let a request begin at once if few have begun in this turn', async () => {
    request('a', 'b');
    await Promise.resolve();
    expect(begun).toEqual(['a', 'b']);
  });

  it('let the others begin in the next turns, in their order', async () => {
    request('a', 'b', 'c', 'd', 'e');
    await nextTurn();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    request('f', 'g');
    await nextTurn();
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    await nextTurn();
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  it('plan no further turn when no request waits, and begin again with the next one', async () => {
    request('a', 'b', 'c');
    for (let nth = 0; nth < 3; nth++) await nextTurn();
    expect(planned).toEqual([]);
    request('d', 'e', 'f');
    await Promise.resolve();
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(planned).toHaveLength(1);
  });
});
