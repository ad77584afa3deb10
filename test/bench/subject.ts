import { setTimeout as pause } from 'node:timers/promises';

/** User and system time so far, in ms: of the process of a subject, and of the processes that store its data. */
export type Cpu = { service: number; store: number };

/** Resident memory (RSS) of the same, in MiB. */
type Resident = { service: number; store: number };

/** The webhooks of one tenant, one for each URL. */
type Subscription = {
  /** Publishes an event to each of the webhooks, with this title in its body. */
  publish: (title: string) => Promise<unknown>;
  /** Reads the number of attempts in the history of the first webhook, up to 100. */
  attempts: () => Promise<number>;
  /** Deletes the webhooks. */
  end: () => Promise<void>;
};

/** A service whose deliveries are measured: this one, another checkout of it, or a peer. */
export type Subject = {
  name: string;
  cpu: () => Cpu;
  memory: () => Resident;
  /** Registers a webhook for each URL, for a new tenant. */
  subscribe: (urls: readonly string[]) => Promise<Subscription>;
};

/** Returns the CPU time between two moments. */
export function cpuBetween(from: Cpu, to: Cpu): Cpu {
  return { service: to.service - from.service, store: to.store - from.store };
}

/** Measures the CPU time of a subject without any load, in ms a ms. */
export async function idleCpuOf({ cpu }: Pick<Subject, 'cpu'>, seconds: number): Promise<Cpu> {
  const before = { cpu: cpu(), at: performance.now() };
  await pause(seconds * 1000);
  const used = cpuBetween(before.cpu, cpu());
  const ms = performance.now() - before.at;
  return { service: used.service / ms, store: used.store / ms };
}
