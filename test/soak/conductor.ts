import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, FaultKind, Interruption, Planned, ProcessFault } from './faults.ts';
import type { Stage } from './stage.ts';

/** What has happened so far. */
export type Happened = { kinds: Map<FaultKind, number>; interruptions: Interruption[] };

/** Where faults are caused, what is noted of them, and what ends the waiting for their moments. */
type Conducting = { stage: Stage; happened: Happened; over: AbortSignal };

/** Causes each fault of the plan once the ledger has come to it; a fault of the process ends before the next begins. */
export async function conduct(plan: readonly Planned[], { stage, happened, over }: Conducting): Promise<void> {
  for (const { after, fault } of plan) {
    while (stage.ledger.events < after) await pause(10, undefined, { signal: over });
    await cause(fault, stage, happened);
    happened.kinds.set(fault.kind, (happened.kinds.get(fault.kind) ?? 0) + 1);
  }
}

async function cause(fault: Fault, stage: Stage, happened: Happened): Promise<void> {
  if ('receiver' in fault) return stage.receivers[fault.receiver]?.cause(fault);
  if ('requests' in fault) return stage.proxy.cause(fault);
  const interruption = { from: Date.now(), to: Number.POSITIVE_INFINITY };
  happened.interruptions.push(interruption);
  await interrupt(fault, stage);
  interruption.to = Date.now();
}

async function interrupt(fault: ProcessFault, { service, engine }: Stage): Promise<void> {
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
