import { execFileSync } from 'node:child_process';
import { freePort } from '../../../servers/free-port.ts';
import { createFolder } from '../../bench.ts';
import { forkFile } from '../../forked.ts';
import { cpuOfTree } from '../../process-stats.ts';
import { byCallers } from '../../scenario.ts';
import type { Subject } from '../../service.ts';
import { jsonApi, type Peer } from '../peer.ts';
import { startProgram } from '../programs.ts';
import type { Said } from './restate-steps.ts';

/** A service that carries out executions of three steps. */
export type Stepper = Subject & {
  /** Carries out executions by callers that each wait for the end, and returns the ends a second. */
  execute: (callers: number, count: number) => Promise<{ rate: number }>;
  /** The same without three steps, where there is such an execution. */
  executeWithoutTools?: Stepper['execute'];
};

const serverPackage = '@restatedev/restate-server@1.7.12';
const sdk = '@restatedev/restate-sdk';

/** Restate (github.com/restatedev/restate): its server, and a process with its SDK that carries out the steps. */
export const restate: Peer<Stepper> = {
  name: 'Restate',
  needs: ['restate-server', sdk],
  install: `npm install --prefix .peers ${serverPackage} ${sdk}@1.17.2`,
  async start(bench, paths) {
    const server = paths['restate-server'] as string;
    const cwd = createFolder(bench);
    const steps = forkFile<never, Said>(bench, new URL('./restate-steps.ts', import.meta.url), {
      args: [paths[sdk] as string],
    });
    const { url: uri } = await steps.nextMessage<Said>();
    const [ingress, admin, fabric] = [await freePort(), await freePort(), await freePort()].map(
      (port) => `127.0.0.1:${port}`,
    );
    const env = {
      PATH: process.env.PATH,
      HOME: cwd,
      RESTATE_BASE_DIR: cwd,
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_INGRESS__BIND_ADDRESS: ingress,
      RESTATE_ADMIN__BIND_ADDRESS: admin,
      RESTATE_BIND_ADDRESS: fabric,
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_DISABLE_ANSI_CODES: 'true',
    };
    const pid = await startProgram(bench, server, { cwd, env, ready: /server_name: admin-api-server/ });
    await jsonApi(`http://${admin}`)('POST', '/deployments', { uri });
    const send = jsonApi(`http://${ingress}`);
    const version = execFileSync(server, ['--version'], { env, encoding: 'utf8' }).trim().split(' ')[1];
    return {
      name: `Restate ${version}`,
      cpu: () => cpuOfTree(pid) + cpuOfTree(steps.pid),
      async execute(callers, count) {
        const startedAt = performance.now();
        await byCallers(callers, count, () => send('POST', '/steps/three'));
        return { rate: (count * 1000) / (performance.now() - startedAt) };
      },
    };
  },
};
