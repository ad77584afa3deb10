import type { Deployment } from '../local/deployment.ts';

/** What `npm start` prints about a deployment. */
type Described = Pick<
  Deployment,
  'url' | 'token' | 'tokenFile' | 'modeProblem' | 'modelDescription' | 'modelProblem' | 'upgraded' | 'isRelaxed'
>;

/**
 * Returns the output of `npm start` when the service is ready. Only on a terminal it contains the access token: elsewhere
 * it goes to a file or to a log that others can read.
 */
export function welcome(
  { url, token, tokenFile, modeProblem, modelDescription, modelProblem, upgraded, isRelaxed }: Described,
  isTerminal: boolean,
): string {
  const warnings = [
    ...(modelProblem ? [`Warning: ${modelProblem} Executions fail until that is mended.`] : []),
    ...(modeProblem ? [`Warning: ${modeProblem}`] : []),
    ...(isRelaxed ? ['Warning: DURABILITY=normal: a power cut can undo the changes of the last seconds.'] : []),
  ];
  const tokenLines = isTerminal
    ? `Your token is    ${token}
                 (also in ${tokenFile}; it has every scope in the organization "local")`
    : `Your token is in ${tokenFile}
                 (it has every scope in the organization "local"; only a terminal shows it)`;
  const consoleLine = isTerminal
    ? `Console, signed in: ${url}/#token=${token}`
    : `Console:            ${url}/ (sign in with the token)`;
  return `
Crewboard is at ${url}
${tokenLines}
${[`${modelDescription}.`, ...(upgraded ? [upgraded] : []), ...warnings].join('\n')}

Create two agents and a task, and run the first agent. It looks at the board, splits the task, delegates one part to
the second agent, does the other part, and passes its quality gates:

  post() { curl -s "${url}$1" -H "Authorization: Bearer $(cat ${tokenFile})" \\
    -H 'Content-Type: application/json' -d "$2"; echo; }
  post /api/agents '{"name":"lead","displayName":"Lead","category":"business",
    "systemPrompt":"You split work into tasks.","capabilities":["tasks.read","tasks.write","delegate"]}'
  post /api/agents '{"name":"writer","displayName":"Writer","category":"business","systemPrompt":"You write web pages."}'
  TASK=$(post /api/kanban-tasks '{"title":"Launch the new page"}' | grep -o 'tk_[0-9A-Z]*')
  post /api/agents/lead/execute '{"taskId":"'$TASK'",
    "input":"Split the task into “Write the page” and “Check the links”. Delegate “Write the page” to writer, and do the other part."}'

The console shows the run and its steps.

${consoleLine}
API reference:      ${url}/docs (OpenAPI document: ${url}/openapi.json)
Demo, in another terminal: npm run demo
Stop Crewboard: Ctrl-C
`;
}
