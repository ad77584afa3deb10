import { describe, expect, it } from 'vitest';
import { deleteWebhook } from '../../../lib/webhooks/webhooks.ts';
import { opening } from '../office.ts';
import type { Fault } from './faults.ts';
import { failing, openLines } from './line.ts';

const newLine = await openLines();
const late = { httpStatus: 0, timedOut: true, durationMs: 0, error: 'No answer within 10 s.' };

describe('one message', () => {
  it('that comes twice at every attempt and hop adds no attempt', async () => {
    const line = newLine();
    await line.register(failing(Number.POSITIVE_INFINITY));
    await line.publish([line.change()]);
    line.room.held.push(...line.room.held.map((held) => ({ ...held })));
    expect(await line.rest()).toEqual({ wrong: [], ends: { exhausted: 1 }, latestMs: 0 });
    expect(line.posts).toHaveLength(4);
  });
});

describe('a webhook that is deleted', () => {
  it('while a retry waits gets nothing more, and the delivery is dropped when that is due', async () => {
    const line = newLine();
    const { id } = await line.register(failing(Number.POSITIVE_INFINITY));
    await line.publish([line.change()]);
    await line.deliver();
    await deleteWebhook(line, line.organization, id);
    expect(await line.rest()).toEqual({ wrong: [], ends: { dropped: 1 }, latestMs: 0 });
    expect(line.posts).toHaveLength(1);
    expect(line.clock() - (line.posts[0]?.at ?? 0)).toBe(300_000);
  });

  it.each<Fault>([
    { at: 'unlist', when: 'before', how: 'dies' },
    { at: 'unlist', when: 'after', how: 'dies' },
    { at: 'unlist', when: 'before', how: 'throttles', until: opening + 600_000 },
  ])(
    'is left alone at last though its retry’s worker is struck: $when it is taken off the list, $how',
    async (fault) => {
      const line = newLine();
      const { id } = await line.register(failing(1));
      await line.publish([line.change()]);
      await line.deliver();
      await deleteWebhook(line, line.organization, id);
      line.faults.plan(fault);
      expect(await line.rest()).toEqual({ wrong: [], ends: { dropped: 1 }, latestMs: 0 });
      expect(line.posts).toHaveLength(1);
    },
  );

  it('holds up no other', async () => {
    const line = newLine();
    const { id } = await line.register(failing(1));
    await line.register(failing(1));
    await line.publish([line.change()]);
    await line.deliver();
    await deleteWebhook(line, line.organization, id);
    expect(await line.rest()).toEqual({ wrong: [], ends: { dropped: 1, delivered: 1 }, latestMs: 0 });
    expect(line.posts).toHaveLength(3);
  });
});

describe('a slow webhook', () => {
  it('gets every event, though its receiver takes all the time for four', async () => {
    const line = newLine();
    await line.register((nth) => (nth <= 4 ? late : {}));
    for (let more = 0; more < 6; more++) {
      line.put(line.change());
      line.clock.now += 1;
      await line.settle();
    }
    expect(await line.rest()).toMatchObject({ wrong: [], ends: { exhausted: 1, delivered: 5 } });
  });

  it.each<['before' | 'after', 'dies' | 'fails', number]>([
    ['before', 'dies', 180_000],
    ['before', 'fails', 180_000],
    ['after', 'dies', 0],
    ['after', 'fails', 0],
  ])('gets its event where the worker, %s the message is sent on, %s', async (when, how, latestMs) => {
    const line = newLine();
    await line.register((nth) => (nth === 1 ? late : {}));
    await line.publish([line.change()]);
    await line.deliver();
    line.clock.now += 60_001;
    line.faults.plan({ at: 'send to the slow queue', when, how });
    line.put(line.change());
    expect(await line.rest()).toEqual({ wrong: [], ends: { delivered: 2 }, latestMs });
    expect(line.posts).toHaveLength(3);
  });
});
