import { agents } from './api/agents/agents.ts';
import { createApiProgram } from './api/api-program.ts';
import { backup } from './commands/backup.ts';
import { deadLetters } from './commands/dead-letters.ts';
import { operatorDeliveries } from './commands/deliveries.ts';
import { moveModel } from './commands/move-model.ts';
import { orgs } from './commands/organizations.ts';
import { preflight } from './commands/preflight.ts';
import { protect } from './commands/protect.ts';
import { reconcile } from './commands/reconcile.ts';
import { settings } from './commands/settings.ts';
import { token } from './commands/token.ts';
import { trace } from './commands/trace.ts';

agents.addCommand(moveModel);

/** The program of the repository: the commands that call the API, and the commands of operators. */
export const program = createApiProgram(
  'Use Crewboard by its API, or operate it: the service that runs on this machine, or a stack in AWS with --stack',
  'npm run --silent crewboard -- tasks list --status backlog',
  'npm run --silent crewboard -- token create --org acme',
  'npm run --silent crewboard -- dead-letters list --stack Crewboard',
)
  .commandsGroup('Commands for operators:')
  .addCommand(token)
  .addCommand(orgs)
  .addCommand(settings)
  .addCommand(deadLetters)
  .addCommand(operatorDeliveries)
  .addCommand(reconcile)
  .addCommand(backup)
  .addCommand(trace)
  .addCommand(preflight)
  .addCommand(protect);
