import { describe, expect, it } from 'vitest';
import { changesOf, openBoard } from './board.ts';
import type { Fault } from './faults.ts';
import { openLines } from './line.ts';

const newLine = await openLines();

/** A line with a webhook, and the board of its organization. */
async function lineWithBoard() {
  const line = newLine();
  await line.register();
  return { line, board: openBoard(line) };
}

describe('a task', () => {
  it.each<[string, Fault, number]>([
    ['is told of where the API dies once it is written', { at: 'write a task', when: 'after', how: 'dies' }, 1],
    ['is told of where the API is not told that it is written', { at: 'write a task', when: 'after', how: 'fails' }, 1],
    ['that was never written is told to nobody', { at: 'write a task', when: 'before', how: 'dies' }, 0],
  ])('%s', async (_, fault, told) => {
    const { line, board } = await lineWithBoard();
    line.faults.plan(fault);
    expect(await board.create()).toBe(fault.how === 'dies' ? 'dead' : 'failed');
    expect(await board.expectAll()).toBe(told);
    line.put(...(await changesOf(line)));
    expect(await line.rest()).toMatchObject({ wrong: [] });
    expect(line.posts).toHaveLength(told);
  });

  it('is published if the reader of the stream is lost between the read and the send, and reads again', async () => {
    const { line, board } = await lineWithBoard();
    for (let more = 0; more < 3; more++) await board.create();
    await board.expectAll();
    line.faults.plan({ at: 'send', when: 'half', how: 'dies' });
    line.put(...(await changesOf(line)));
    expect(await line.rest()).toEqual({ wrong: [], ends: { delivered: 3 }, latestMs: 1_000 });
    expect(line.posts).toHaveLength(3);
  });
});
