import { command } from './command.ts';
import { agents } from './commands/agents.ts';
import { deadLetters } from './commands/dead-letters.ts';
import { deliveries } from './commands/deliveries.ts';
import { orgs } from './commands/organizations.ts';
import { preflight } from './commands/preflight.ts';
import { protect } from './commands/protect.ts';
import { reconcile } from './commands/reconcile.ts';
import { settings } from './commands/settings.ts';
import { token } from './commands/token.ts';
import { trace } from './commands/trace.ts';

/** The program of operators. Each command is also an npm script of its own name. */
export const program = command(
  'crewboard',
  'Operate Crewboard: the service that runs on this machine, or a stack in AWS with --stack',
  'npm run --silent token -- create --org acme',
  'npm run --silent crewboard -- token create --org acme',
  'npm run --silent dead-letters -- list --stack Crewboard',
)
  .addCommand(token)
  .addCommand(orgs)
  .addCommand(settings)
  .addCommand(agents)
  .addCommand(deadLetters)
  .addCommand(deliveries)
  .addCommand(reconcile)
  .addCommand(trace)
  .addCommand(preflight)
  .addCommand(protect);
