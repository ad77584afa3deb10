import { stop as stopEsbuild } from 'esbuild';
import { readConsole } from '../../lib/http/console/console-files.ts';
import { setLog } from '../../lib/log.ts';
import { type RunServiceCommand, startDeployment } from './deployment.ts';
import { Problem } from './problem.ts';
import { readSettings } from './settings.ts';
import { createTerminalLog } from './terminal/terminal-log.ts';
import { welcome } from './terminal/welcome.ts';

/** Runs a command of operators. Its modules are loaded at the first command, because most services get none. */
const runCommand: RunServiceCommand = async (...call) => {
  const { runServedCommand } = await import('../cli/served-commands.ts');
  await runServedCommand(...call);
};

/** `npm start`: runs the whole service on this machine until Ctrl-C. */
async function main(): Promise<void> {
  const settings = readSettings(process.env, process.argv.slice(2));
  const { stdout } = process;
  if (settings.log === 'text' || (settings.log === undefined && stdout.isTTY)) setLog(createTerminalLog(stdout));
  const deployment = await startDeployment(settings, runCommand);
  console.log(welcome(deployment, stdout.isTTY));
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, async () => {
      if (stopping) return;
      stopping = true;
      await deployment.stop();
      console.log('Crewboard has stopped; its data is kept.');
      process.exit(0);
    });
  console.log('ready');
  // Built after the service is ready and before the user opens it. If that fails, so do the requests for it.
  readConsole().then(stopEsbuild, stopEsbuild);
  await deployment.broken;
  if (!stopping)
    throw new Problem('the table cannot be written any more; see the error above, then restart the service.');
}

main().catch((error: unknown) => {
  console.error(error instanceof Problem ? `Crewboard cannot run: ${error.message}` : error);
  process.exit(1);
});
