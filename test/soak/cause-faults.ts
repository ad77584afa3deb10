import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, FaultKind, Interruption, Planned, ProcessFault } from './plan.ts';
import type { Setup } from './setup.ts';

/** The faults that were caused, by kind, and the interruptions of the service. */
export type Caused = { kinds: Map<FaultKind, number>; interruptions: Interruption[] };

/** The faulty setup, the record of the faults, and a signal that ends the wait for the next one. */
type Conducting = { setup: Setup; caused: Caused; over: AbortSignal };

/** Causes each fault of the plan after its number of events; a fault of a process ends before the next begins. */
export async function causeFaults(plan: readonly Planned[], { setup, caused, over }: Conducting): Promise<void> {
  for (const { after, fault } of plan) {
    while (setup.ledger.events < after) await pause(10, undefined, { signal: over });
    await cause(fault, setup, caused);
    caused.kinds.set(fault.kind, (caused.kinds.get(fault.kind) ?? 0) + 1);
  }
}

async function cause(fault: Fault, setup: Setup, caused: Caused): Promise<void> {
  if ('receiver' in fault) return setup.receivers[fault.receiver]?.cause(fault);
  if ('requests' in fault) return setup.proxy.cause(fault);
  const interruption = { from: Date.now(), to: Number.POSITIVE_INFINITY };
  caused.interruptions.push(interruption);
  await interrupt(fault, setup);
  interruption.to = Date.now();
}

async function interrupt(fault: ProcessFault, { service, engine }: Setup): Promise<void> {
  switch (fault.kind) {
    case 'kill -STOP':
      service.signal('SIGSTOP');
      await pause(fault.forMs);
      return service.signal('SIGCONT');
    case 'kill -9 of the service':
      await service.kill();
      return service.start();
    case 'kill -9 of service and engine':
      await Promise.all([service.kill(), engine.kill()]);
      await engine.start();
      return service.start();
  }
}
