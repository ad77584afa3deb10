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

/** What operators run. Each command has a script of its own name as well. */
export const program = command(
  'crewboard',
  'What operators of Crewboard run: on the service that runs on this machine, or on a stack in AWS by --stack',
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
