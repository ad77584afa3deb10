import { describe, expect, it } from 'vitest';
import type { Fault } from './faults.ts';
import { preparePipelines } from './pipeline.ts';
import { changesOf, openBoard } from './task-changes.ts';

const createPipeline = await preparePipelines();

/** A pipeline with a webhook, and the board of its organization. */
async function lineWithBoard() {
  const pipeline = createPipeline();
  await pipeline.register();
  return { pipeline, board: openBoard(pipeline) };
}

describe('a task', () => {
  it.each<[string, Fault, number]>([
    ['is told of where the API dies once it is written', { at: 'write a task', when: 'after', how: 'dies' }, 1],
    ['is told of where the API is not told that it is written', { at: 'write a task', when: 'after', how: 'fails' }, 1],
    ['that was never written is told to nobody', { at: 'write a task', when: 'before', how: 'dies' }, 0],
  ])('%s', async (_, fault, told) => {
    const { pipeline, board } = await lineWithBoard();
    pipeline.faults.plan(fault);
    expect(await board.create()).toBe(fault.how === 'dies' ? 'dead' : 'failed');
    expect(await board.expectAll()).toBe(told);
    pipeline.put(...(await changesOf(pipeline)));
    expect(await pipeline.rest()).toMatchObject({ wrong: [] });
    expect(pipeline.posts).toHaveLength(told);
  });

  it('is published if the reader of the stream is lost between the read and the send, and reads again', async () => {
    const { pipeline, board } = await lineWithBoard();
    for (let more = 0; more < 3; more++) await board.create();
    await board.expectAll();
    pipeline.faults.plan({ at: 'send', when: 'half', how: 'dies' });
    pipeline.put(...(await changesOf(pipeline)));
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 3 }, latestMs: 1_000 });
    expect(pipeline.posts).toHaveLength(3);
  });
});
