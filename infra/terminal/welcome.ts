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

${consoleLine}
API reference:      ${url}/docs (OpenAPI document: ${url}/openapi.json)
Demo, in another terminal: npm run demo
Stop Crewboard: Ctrl-C
`;
}
