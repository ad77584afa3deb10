import { setTimeout as pause } from 'node:timers/promises';
import type { ClockFault, Fault, FaultKind, Interruption, Planned, ProcessFault, WebhookFault } from './plan.ts';
import type { Setup } from './setup.ts';

/** The faults that were caused, by kind, and the interruptions of the service. */
export type Caused = { kinds: Map<FaultKind, number>; interruptions: Interruption[] };

/** The faulty setup, the record of the faults, and a signal that ends the wait for the next one. */
type Conducting = { setup: Setup; caused: Caused; over: AbortSignal };

/**
 * Causes each fault of the plan after its number of events, and returns when all have ended. A fault of a process ends
 * before the next begins. Changes of webhooks and steps of the clock continue beside the next faults, such as kills.
 */
export async function causeFaults(plan: readonly Planned[], conducting: Conducting): Promise<void> {
  const { setup, caused, over } = conducting;
  const lasting: Promise<void>[] = [];
  for (const { after, fault } of plan) {
    while (setup.ledger.events < after) await pause(10, undefined, { signal: over });
    const causing = cause(fault, conducting);
    if (isLasting(fault)) {
      lasting.push(causing);
      // The end of the plan reports it.
      causing.catch(() => {});
    } else await causing;
    caused.kinds.set(fault.kind, (caused.kinds.get(fault.kind) ?? 0) + 1);
  }
  await Promise.all(lasting);
}

/** Whether further faults can happen during a fault. */
function isLasting({ kind }: Fault): boolean {
  return kind === 'webhook paused' || kind === 'rate changed' || kind === 'clock stepped';
}

async function cause(fault: Fault, { setup, caused, over }: Conducting): Promise<void> {
  const { kind } = fault;
  if (kind === 'webhook paused' || kind === 'rate changed') return changeWebhook(fault, setup, over);
  if (kind === 'clock stepped') return stepClock(fault, setup, over);
  if ('receiver' in fault) return setup.receivers[fault.receiver]?.cause(fault);
  const interruption = { from: Date.now(), to: Number.POSITIVE_INFINITY };
  caused.interruptions.push(interruption);
  await interrupt(fault, setup);
  interruption.to = Date.now();
}

async function changeWebhook(fault: WebhookFault, { changes }: Setup, over: AbortSignal): Promise<void> {
  if (fault.kind === 'webhook paused') await changes.pause(fault.receiver, fault.forMs, over);
  else await changes.limit(fault.receiver, fault.maxPerSecond, over);
}

async function stepClock({ byMs, backAfterMs }: ClockFault, { clock }: Setup, over: AbortSignal): Promise<void> {
  clock.step(byMs);
  if (backAfterMs === undefined) return;
  await pause(backAfterMs, undefined, { signal: over });
  clock.step(-byMs);
}

async function interrupt(fault: ProcessFault, { service }: Setup): Promise<void> {
  switch (fault.kind) {
    case 'kill -STOP':
      service.signal('SIGSTOP');
      await pause(fault.forMs);
      return service.signal('SIGCONT');
    case 'kill -9':
      await service.kill();
      return service.start();
  }
}
