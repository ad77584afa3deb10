import { setTimeout } from 'node:timers/promises';
import ora from 'ora';
import type { Client } from '../../../../lib/client/client.ts';
import type { Recovery } from '../../../../lib/contract/webhooks/recoveries.ts';

/** How often the progress of a recovery is read, in milliseconds. */
const readAgainMs = 1_000;

/**
 * Waits until a recovery is completed or cancelled, and returns it. Shows its progress on standard error: on a terminal as one line that
 * is updated and removed at the end, elsewhere as a line for each change.
 */
export async function followRecovery(
  client: Pick<Client, 'getRecovery'>,
  params: { id: string; recoveryId: string },
  stream: NodeJS.WriteStream = process.stderr,
): Promise<Recovery> {
  // Some terminals report 0 columns. There ora would clear infinitely many lines.
  const hasLine = stream.isTTY && stream.columns > 0;
  const line = ora({ text: params.recoveryId, stream, discardStdin: false, isEnabled: hasLine });
  if (hasLine) line.start();
  let shown = '';
  try {
    for (;;) {
      const { data: recovery } = await client.getRecovery({ params });
      const text = progressText(recovery);
      if (hasLine) line.text = text;
      else if (text !== shown) stream.write(`${text}\n`);
      shown = text;
      if (recovery.state !== 'running') return recovery;
      await setTimeout(readAgainMs);
    }
  } finally {
    line.stop();
  }
}

function progressText({ id, state, matched, sent, delivered, failed }: Recovery): string {
  return `${id} ${state}: ${sent} of ${matched} sent, ${delivered} delivered, ${failed} failed`;
}
