import { appendFileSync } from 'node:fs';
import type { Api } from '../api.ts';
import { createApiOverHttp } from '../api-over-http.ts';
import { type Address, type ServiceOptions, startService } from '../processes/service-process.ts';

/** The service as its user runs it, which can be killed and started again on the same data. */
export type ServiceProcess = {
  address: () => Address;
  api: () => Api;
  /** The number of starts. */
  starts: () => number;
  /** Rejects when the service ends without a kill. */
  broken: Promise<never>;
  kill: () => Promise<void>;
  signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  /** Starts the service, and waits until it is ready. */
  start: () => Promise<void>;
};

type Options = Omit<ServiceOptions, 'onOutput'> & {
  log: string;
};

const startTimeoutMs = 60_000;

/** Starts the service. It ends with this process at the latest. */
export async function startServiceProcess({ log, ...options }: Options): Promise<ServiceProcess> {
  const onOutput = (text: string) => appendFileSync(log, text);
  let starts = 0;
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => {});
  let running: { process: ReturnType<typeof startService>; address: Address; api: Api };
  process.once('exit', () => running?.process.child.kill('SIGKILL'));

  const service: ServiceProcess = {
    address: () => running.address,
    api: () => running.api,
    starts: () => starts,
    broken,
    kill: async () => {
      running.process.child.kill('SIGKILL');
      await running.process.ended;
    },
    signal: (signal) => void running.process.child.kill(signal),
    start: async () => {
      starts++;
      const started = startService({ ...options, onOutput });
      const timer = setTimeout(() => started.child.kill('SIGKILL'), startTimeoutMs);
      const address = await started.ready;
      clearTimeout(timer);
      if (!address) throw new Error(`The service does not start; see ${log}.`);
      running = { process: started, address, api: createApiOverHttp(address.url, address.token) };
      started.ended.then(({ code, signal }) => {
        if (signal !== 'SIGKILL') reject(new Error(`The service ended with ${code}; see ${log}.`));
      });
    },
  };
  await service.start();
  return service;
}
