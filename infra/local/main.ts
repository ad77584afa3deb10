import { stop as stopEsbuild } from 'esbuild';
import { readConsole } from '../../lib/http/console/console-files.ts';
import { setLog } from '../../lib/log.ts';
import { type Deployment, startDeployment } from './deployment.ts';
import { Problem } from './problem.ts';
import { readSettings } from './settings.ts';
import { createTerminalLog } from './terminal/terminal-log.ts';

/** `npm start`: runs the whole service on this machine until Ctrl-C. */
async function main(): Promise<void> {
  const settings = readSettings(process.env, process.argv.slice(2));
  const { stdout } = process;
  if (settings.log === 'text' || (settings.log === undefined && stdout.isTTY)) setLog(createTerminalLog(stdout));
  const deployment = await startDeployment(settings);
  console.log(welcome(deployment));
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
    throw new Problem('the table engine has ended; see engine.log in the data folder, then restart the service.');
}

function welcome({ url, token, tokenFile, modelDescription, modelProblem }: Deployment): string {
  return `
Crewboard is at ${url}
Your token is    ${token}
                 (also in ${tokenFile}; it has every scope in the organization "local")
${modelDescription}.${modelProblem ? `\nWarning: ${modelProblem} Executions fail until that is mended.` : ''}

Create a task:

  curl -s ${url}/api/kanban-tasks \\
    -H "Authorization: Bearer $(cat ${tokenFile})" \\
    -H 'Content-Type: application/json' \\
    -d '{"title":"Try Crewboard"}'

Execute an agent. Its output is then at ${url}/api/agents/qa-reviewer/executions/ID:

  curl -s ${url}/api/agents/qa-reviewer/execute \\
    -H "Authorization: Bearer $(cat ${tokenFile})" \\
    -H 'Content-Type: application/json' \\
    -d '{"input":"What makes a task easy to review?"}'

Console, signed in: ${url}/#token=${token}
API reference:      ${url}/docs (OpenAPI document: ${url}/openapi.json)
Demo, in another terminal: npm run demo
Stop Crewboard: Ctrl-C
`;
}

main().catch((error: unknown) => {
  console.error(error instanceof Problem ? `Crewboard cannot run: ${error.message}` : error);
  process.exit(1);
});
