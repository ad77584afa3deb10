/** CPU time so far of what is measured, in ms of user and system time: of its own process, and of what stores its data. */
export type Cpu = { service: number; store: number };

/** Resident memory (RSS) of the same, in MiB. */
type Resident = { service: number; store: number };

/** Webhooks of one tenant, as many as URLs were given. */
type Subscription = {
  /** Publishes an event that each of the webhooks receives, with this title in its body. */
  publish: (title: string) => Promise<unknown>;
  /** Reads how many attempts the history of the first webhook has, up to 100. */
  attempts: () => Promise<number>;
  /** Deletes the webhooks. */
  end: () => Promise<void>;
};

/** What deliveries are measured of: this service, another checkout of it, or a peer. */
export type Subject = {
  name: string;
  cpu: () => Cpu;
  memory: () => Resident;
  /** Registers a webhook for each URL, for a new tenant. */
  subscribe: (urls: readonly string[]) => Promise<Subscription>;
};

/** The CPU time between two moments. */
export function cpuBetween(from: Cpu, to: Cpu): Cpu {
  return { service: to.service - from.service, store: to.store - from.store };
}
