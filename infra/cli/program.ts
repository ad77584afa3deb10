import { agents } from './agents.ts';
import { command } from './command.ts';
import { deadLetters } from './dead-letters.ts';
import { deliveries } from './deliveries.ts';
import { orgs } from './organizations.ts';
import { preflight } from './preflight.ts';
import { protect } from './protect.ts';
import { reconcile } from './reconcile.ts';
import { settings } from './settings.ts';
import { token } from './token.ts';
import { trace } from './trace.ts';

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
