import { stop as stopEsbuild } from 'esbuild';
import { log, setLog } from '../lib/context/log.ts';
import { readConsole } from '../lib/http/console/console-files.ts';
import { type RunServiceCommand, startDeployment } from './local/deployment.ts';
import { readLocalSettings } from './local/settings.ts';
import { Problem } from './problem.ts';
import { createHeldLog } from './terminal/held-log.ts';
import { createTerminalLog } from './terminal/terminal-log.ts';
import { welcome } from './terminal/welcome.ts';

/** Runs a command of operators. Its modules are loaded at the first command, because most services get none. */
const runCommand: RunServiceCommand = async (...call) => {
  const { runServedCommand } = await import('./cli/served-commands.ts');
  await runServedCommand(...call);
};

/** `npm start`: runs the whole service on this machine until Ctrl-C. */
async function main(): Promise<void> {
  const settings = readLocalSettings(process.env, process.argv.slice(2));
  const { stdout } = process;
  const isText = settings.log === 'text' || (settings.log === undefined && stdout.isTTY);
  const heldLog = createHeldLog(isText ? createTerminalLog(stdout) : log());
  setLog(heldLog);
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
  heldLog.release();
  // Built after the service is ready and before the user opens it. If that fails, so do the requests for it.
  readConsole().then(stopEsbuild, stopEsbuild);
  await deployment.broken;
  if (!stopping)
    throw new Problem('the table cannot be written any more; see the error above, then restart the service.');
}

main().catch((error: unknown) => {
  // The reason is the first line, also before the stack of an error that nobody has expected.
  if (error instanceof Problem) console.error(`Crewboard cannot run: ${error.message}`);
  else console.error(`Crewboard cannot run: ${error instanceof Error ? error.message : error}\n`, error);
  process.exit(1);
});
