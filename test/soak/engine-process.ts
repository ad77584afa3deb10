import { join } from 'node:path';
import { startEngine } from '../../infra/local/engine/engine.ts';
import { killAllOn } from './processes.ts';
import type { TableProxy } from './table-proxy.ts';

/** The table's engine as a process that can be killed and started again on the same file. */
export type EngineProcess = {
  /** Where it answers now, without the faults of the proxy. */
  endpoint: () => string;
  kill: () => Promise<void>;
  start: () => Promise<void>;
};

/** Starts the engine on a folder of its own, and leads the proxy to it. */
export async function openEngine(folder: string, proxy: TableProxy): Promise<EngineProcess> {
  const files = { database: join(folder, 'table.db'), log: join(folder, 'engine.log') };
  const launch = async () => {
    const engine = await startEngine(files);
    proxy.leadTo(engine.endpoint);
    return engine;
  };
  let engine = await launch();
  return {
    endpoint: () => engine.endpoint,
    kill: async () => {
      await killAllOn(files.database);
      proxy.leadTo(undefined);
      // Nothing is left to stop but the leash.
      await engine.stop();
    },
    start: async () => {
      engine = await launch();
    },
  };
}
