import type { Command } from '@commander-js/extra-typings';
import manifest from '../../../package.json' with { type: 'json' };
import { command } from '../command.ts';
import { listen } from '../listen/listen.ts';
import { trigger } from '../listen/trigger.ts';
import { agents } from './agents/agents.ts';
import { skills } from './agents/skills.ts';
import { completion } from './completion/completion.ts';
import { events } from './events.ts';
import { executions } from './executions/executions.ts';
import { claim, nextTask, release, renew } from './tasks/claims.ts';
import { tasks } from './tasks/tasks.ts';
import { webhooks } from './webhooks/webhooks.ts';
import { whoami } from './whoami.ts';

const exitCodesText = `
Exit codes:
  0  The command is done.
  1  The command failed: an error response, a failed execution or test event, or no connection.
  2  Wrong usage: an unknown command or option, a wrong or missing value, or no access token.`;

/**
 * Creates the program `crewboard` with the commands that call the API.
 *
 * @param examples complete command lines
 */
export function createApiProgram(summary: string, ...examples: string[]): Command {
  return command('crewboard', summary, ...examples)
    .version(manifest.version, '-V, --version', 'print the version')
    .addHelpText('after', exitCodesText)
    .commandsGroup('Commands that call the API:')
    .addCommand(tasks)
    .addCommand(nextTask)
    .addCommand(claim)
    .addCommand(renew)
    .addCommand(release)
    .addCommand(agents)
    .addCommand(skills)
    .addCommand(executions)
    .addCommand(webhooks)
    .addCommand(events)
    .addCommand(listen)
    .addCommand(trigger)
    .addCommand(whoami)
    .addCommand(completion);
}
