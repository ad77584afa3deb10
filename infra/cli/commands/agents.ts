import { replaceAgentModel } from '../../../lib/agents/agents.ts';
import { ModelName } from '../../../lib/contract/agents.ts';
import { formerStandardModels, geographicProfiles } from '../../../lib/contract/models.ts';
import { findUsersOfModel, type UserOfModel } from '../../../lib/table/model-users.ts';
import { replaceDefaultModel } from '../../../lib/table/settings.ts';
import { Problem } from '../../local/problem.ts';
import { columns } from '../columns.ts';
import { command, organizationOption, readBy, stackOption } from '../command.ts';
import { openDeployment } from '../deployments.ts';
import { withProgress } from '../progress.ts';
import { rejectModel } from './settings.ts';

const example = `npm run --silent crewboard -- agents move-model --from ${formerStandardModels[0]} --to ${geographicProfiles[0]}`;

const moveModel = command(
  'move-model',
  'Give all agents that have a model another one',
  `${example} --dry-run`,
  `${example} --org acme --stack Crewboard`,
)
  .description(
    [
      'Give all agents that have a model another one, and set it as the default model of organizations whose default is',
      'the old one. Each agent gets a new version, as by a PATCH. Executions that run keep their model. If the command is',
      'stopped, run it again: it goes on with the agents that are left.',
    ].join(' '),
  )
  .requiredOption('--from <model>', 'the model to replace, as the agents have it', readBy(ModelName))
  .requiredOption('--to <model>', 'the model to give them', readBy(ModelName))
  .addOption(organizationOption('the organization (default: all of them)').makeOptionMandatory(false))
  .option('--dry-run', 'list what would change, and change nothing')
  .addOption(stackOption())
  .action(async ({ from, to, org, dryRun, stack }) => {
    const app = await openDeployment(stack);
    rejectModel(to, app);
    if (from === to) throw new Problem('--from and --to are the same model; give the one to replace and another one.');
    const users = await withProgress('Reading the table', (tell) =>
      findUsersOfModel(app.table, { model: from, defaultModel: app.defaultModel, organization: org }, (count) =>
        tell(`${count.toLocaleString('en')} items of the table read`),
      ),
    );
    if (app.defaultModel === from)
      console.error(`The default model of the deployment is still ${from}; set another one and deploy.`);
    if (dryRun) return console.log(listed(users, from, to));
    let moved = 0;
    await withProgress('Moving agents', async (tell) => {
      for (const [at, user] of users.entries()) {
        if (await move(user)) moved++;
        tell(`${at + 1} of ${users.length} done`);
      }
    });
    console.log(`${counted(moved)} moved from ${from} to ${to}.`);

    /** Whether something changed: not where it was changed or deleted since it was listed. */
    function move({ organization, agent }: UserOfModel): Promise<boolean> {
      if (agent !== undefined) return replaceAgentModel(app, organization, agent, { from, to });
      return replaceDefaultModel(app, organization, { from, to });
    }
  });

/** `npm run crewboard -- agents`: changes to the agents of organizations. */
export const agents = command('agents', 'Change the agents of organizations', `${example} --dry-run`).addCommand(
  moveModel,
);

function listed(users: readonly UserOfModel[], from: string, to: string): string {
  if (users.length === 0) return `Nothing has the model ${from}.`;
  const rows = users.map(({ organization, agent }) => [organization, agent ?? '(default model of the organization)']);
  return `${columns([['organization', 'agent'], ...rows])}\n${counted(users.length)} would move from ${from} to ${to}. Nothing was changed.`;
}

const counted = (count: number) => (count === 1 ? '1 agent or default' : `${count} agents and defaults`);
