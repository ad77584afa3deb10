import { ulid } from 'ulid';
import { expect, it } from 'vitest';
import { startReceiver } from '../receiving-webhooks/receiver-program.ts';
import { describeReceiver } from './example-receivers.ts';
import { delivery } from './posted.ts';

const start = (secret: string) =>
  startReceiver([process.execPath, 'docs/examples/hono-receiver.ts'], { WEBHOOK_SECRET: secret });

describeReceiver('Hono', { start, accepted: 204 }, ({ post, printed }) => {
  it('drops events that are older than the stored one, but not a second event of the same change', async () => {
    const id = `tk_${ulid()}`;
    const changed = (title: string, sequence: number | undefined) =>
      delivery({
        event: 'task.status_changed',
        change: (body) => {
          const { data, ...rest } = JSON.parse(body);
          return JSON.stringify({ ...rest, data: { ...data, task: { ...data.task, id, title }, sequence } });
        },
      });
    const sent: [string, number | undefined][] = [
      ['First', 3],
      ['Late', 2],
      ['Same change', 3],
      ['Newest', 10],
      ['Later', 9],
      ['From before 0.3.0', undefined],
    ];
    for (const [title, sequence] of sent) expect(await post(changed(title, sequence))).toBe(204);
    const dropped = ': dropped an older event, task.status_changed';
    expect((await printed()).filter((line) => sent.some(([title]) => line.startsWith(`${title}:`)))).toEqual([
      'First: in_progress',
      `Late${dropped}`,
      'Same change: in_progress',
      'Newest: in_progress',
      `Later${dropped}`,
      `From before 0.3.0${dropped}`,
    ]);
  });

  it('accepts the events of executions, and does nothing', async () => {
    expect(await post(delivery({ event: 'agent.failed' }))).toBe(204);
  });

  it('does not start without a secret', async () => {
    const { code, complaint } = await start('').ended;
    expect(code).not.toBe(0);
    expect(complaint).toContain('Set WEBHOOK_SECRET');
  });
});
