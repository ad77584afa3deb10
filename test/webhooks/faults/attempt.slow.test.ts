import { describe, expect, it } from 'vitest';
import { opening } from '../office.ts';
import type { Fault } from './faults.ts';
import { failing, type Line, openLines } from './line.ts';

/** A wake-up that is lost, or its worker, is missed a minute after its time, and sent again by the next sweep. */
const overdue = 119_999;

/** A fault of ten minutes is over for whatever comes next. */
const tenMinutes = 599_999;
const until = opening + 600_000;

const newLine = await openLines();

/** A line with one webhook, whose receiver fails so often, and faults; an event of it is in the stream. */
async function lineWith(failures: number, ...faults: Fault[]): Promise<Line> {
  const line = newLine();
  await line.register(failing(failures));
  line.faults.plan(...faults);
  // Just after a sweep, so that whatever needs one waits for it as long as can be.
  line.clock.now += 1;
  line.put(line.change());
  return line;
}

describe('a first attempt is made and recorded once, though its worker', () => {
  it.each<[string, Fault, { posts: number; latestMs: number }]>([
    ['dies before it reads where to', { at: 'target', when: 'before', how: 'dies' }, { posts: 1, latestMs: overdue }],
    ['dies before it takes it in hand', { at: 'claim', when: 'before', how: 'dies' }, { posts: 1, latestMs: overdue }],
    ['dies once it has it in hand', { at: 'claim', when: 'after', how: 'dies' }, { posts: 1, latestMs: overdue }],
    ['dies before the post', { at: 'post', when: 'before', how: 'dies' }, { posts: 1, latestMs: overdue }],
    ['dies after the post', { at: 'post', when: 'after', how: 'dies' }, { posts: 2, latestMs: overdue }],
    [
      'dies before it writes the attempt down',
      { at: 'end', when: 'before', how: 'dies' },
      { posts: 2, latestMs: overdue },
    ],
    ['dies once it has written it down', { at: 'end', when: 'after', how: 'dies' }, { posts: 1, latestMs: 0 }],
    [
      'dies before its message is deleted',
      { at: 'acknowledge', when: 'before', how: 'dies' },
      { posts: 1, latestMs: 0 },
    ],
    ['cannot read where to', { at: 'target', when: 'before', how: 'fails' }, { posts: 1, latestMs: overdue }],
    ['cannot take it in hand', { at: 'claim', when: 'before', how: 'fails' }, { posts: 1, latestMs: overdue }],
    [
      'has it in hand and is not told so',
      { at: 'claim', when: 'after', how: 'fails' },
      { posts: 1, latestMs: overdue },
    ],
    [
      'dies before it tells the webhook',
      { at: 'tell the webhook', when: 'before', how: 'dies' },
      { posts: 2, latestMs: overdue },
    ],
    [
      'dies once it has told the webhook',
      { at: 'tell the webhook', when: 'after', how: 'dies' },
      { posts: 2, latestMs: overdue },
    ],
    [
      'cannot tell the webhook',
      { at: 'tell the webhook', when: 'before', how: 'fails' },
      { posts: 2, latestMs: overdue },
    ],
    ['cannot write it down', { at: 'end', when: 'before', how: 'fails' }, { posts: 2, latestMs: overdue }],
    ['has written it down and is not told so', { at: 'end', when: 'after', how: 'fails' }, { posts: 1, latestMs: 0 }],
    ['meets reads throttled once', { at: 'target', when: 'before', how: 'throttles' }, { posts: 1, latestMs: overdue }],
    [
      'meets claims throttled a while',
      { at: 'claim', when: 'before', how: 'throttles', times: 7 },
      { posts: 1, latestMs: 0 },
    ],
    [
      'meets ends throttled a while',
      { at: 'end', when: 'before', how: 'throttles', times: 7 },
      { posts: 1, latestMs: 0 },
    ],
    [
      'meets reads throttled for 10 minutes',
      { at: 'target', when: 'before', how: 'throttles', until },
      { posts: 1, latestMs: tenMinutes },
    ],
    [
      'meets claims throttled for 10 minutes',
      { at: 'claim', when: 'before', how: 'throttles', until },
      { posts: 1, latestMs: tenMinutes },
    ],
    [
      'meets ends throttled for 10 minutes',
      { at: 'end', when: 'before', how: 'throttles', until },
      { posts: 9, latestMs: tenMinutes },
    ],
  ])('%s', async (_, fault, { posts, latestMs }) => {
    const line = await lineWith(0, fault);
    expect(await line.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs });
    expect(line.posts).toHaveLength(posts);
    expect(line.room.deadLetters).toEqual([]);
  });
});
describe('the ladder is climbed to its end, though a worker', () => {
  it.each<[string, Fault, { posts: number; latestMs: number }]>([
    [
      'dies between the record and the next message',
      { at: 'end', when: 'after', how: 'dies' },
      { posts: 4, latestMs: overdue },
    ],
    [
      'is not told that the record is written',
      { at: 'end', when: 'after', how: 'fails' },
      { posts: 4, latestMs: overdue },
    ],
    [
      'dies as it sends the next message',
      { at: 'send', when: 'before', how: 'dies', after: 1 },
      { posts: 4, latestMs: overdue },
    ],
    [
      'cannot send the next message',
      { at: 'send', when: 'before', how: 'fails', after: 1 },
      { posts: 4, latestMs: overdue },
    ],
    [
      'is not told that the next message is sent',
      { at: 'send', when: 'after', how: 'fails', after: 1 },
      { posts: 4, latestMs: 0 },
    ],
    [
      'dies once the next message is sent',
      { at: 'send', when: 'after', how: 'dies', after: 1 },
      { posts: 4, latestMs: 0 },
    ],
    ['dies before a hop is sent', { at: 'send', when: 'before', how: 'dies', after: 3 }, { posts: 4, latestMs: 0 }],
    [
      'dies between a hop and its message’s deletion',
      { at: 'send', when: 'after', how: 'dies', after: 3 },
      { posts: 4, latestMs: 0 },
    ],
    ['cannot send a hop', { at: 'send', when: 'before', how: 'fails', after: 3 }, { posts: 4, latestMs: 0 }],
    [
      'dies before it looks at an early message',
      { at: 'claim', when: 'before', how: 'dies', after: 2 },
      { posts: 4, latestMs: 0 },
    ],
    [
      'dies after the post of a retry',
      { at: 'post', when: 'after', how: 'dies', after: 1 },
      { posts: 5, latestMs: overdue },
    ],
    [
      'dies with a retry in hand',
      { at: 'claim', when: 'after', how: 'dies', after: 1 },
      { posts: 4, latestMs: overdue },
    ],
    [
      'dies with the last record written',
      { at: 'end', when: 'after', how: 'dies', after: 3 },
      { posts: 4, latestMs: 0 },
    ],
    [
      'dies before the last record is written',
      { at: 'end', when: 'before', how: 'dies', after: 3 },
      { posts: 5, latestMs: overdue },
    ],
  ])('%s', async (_, fault, { posts, latestMs }) => {
    const line = await lineWith(Number.POSITIVE_INFINITY, fault);
    expect(await line.rest()).toEqual({ wrong: [], ends: { exhausted: 1 }, latestMs });
    expect(line.posts).toHaveLength(posts);
  });
});
