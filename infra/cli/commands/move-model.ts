import { replaceAgentModel } from '../../../lib/agents/agents.ts';
import type { Context } from '../../../lib/context/context.ts';
import { ModelName } from '../../../lib/contract/agents/agents.ts';
import { formerStandardModels, geographicProfiles } from '../../../lib/contract/agents/models.ts';
import { findUsersOfModel, type UserOfModel } from '../../../lib/table/agents/model-users.ts';
import { replaceDefaultModel } from '../../../lib/table/organizations/settings.ts';
import { Problem } from '../../problem.ts';
import { columns } from '../columns.ts';
import { command, jsonOption, organizationOption, readBy, stackOption } from '../command.ts';
import { printJson } from '../json.ts';
import { operate } from '../operation.ts';
import { withProgress } from '../progress.ts';
import { rejectModel } from './settings.ts';

const example = `npm run --silent crewboard -- agents move-model --from ${formerStandardModels[0]} --to ${geographicProfiles[0]}`;

/** `npm run crewboard -- agents move-model`: replaces a model of the agents of organizations. */
export const moveModel = command(
  'move-model',
  'Replace a model of agents by another one, as an operator',
  `${example} --dry-run`,
  `${example} --org acme --stack Crewboard`,
)
  .description(
    [
      'Replace a model of agents by another one, also where it is the default model of an organization. Each agent gets',
      'a new version, as by a PATCH. Running executions keep their model. If the command is interrupted, run it again: it',
      'continues with the remaining agents.',
    ].join(' '),
  )
  .requiredOption('--from <model>', 'the model to replace, as the agents name it', readBy(ModelName))
  .requiredOption('--to <model>', 'the new model', readBy(ModelName))
  .addOption(organizationOption('the organization (default: all)').makeOptionMandatory(false))
  .option('--dry-run', 'list the changes without making them')
  .addOption(stackOption())
  .addOption(jsonOption())
  .action(
    operate(async ({ terminal, createContext }, { from, to, org, dryRun, json }) => {
      const context = await createContext();
      rejectModel(to, context);
      if (from === to) throw new Problem('--from and --to name the same model; name two different models.');
      const { table, defaultModel } = context;
      const users = await withProgress(terminal, 'Reading the table', (report) =>
        findUsersOfModel(table, { model: from, defaultModel, organization: org }, (count) =>
          report(`${count.toLocaleString('en')} items of the table read`),
        ),
      );
      if (defaultModel === from)
        terminal.printError(`The default model of the deployment is still ${from}; set another one and deploy.`);
      if (dryRun)
        return json ? printJson({ data: users }, terminal.print) : terminal.print(dryRunText(users, from, to));
      const moved: UserOfModel[] = [];
      await withProgress(terminal, 'Moving agents', async (report) => {
        for (const [at, user] of users.entries()) {
          if (await move(context, user, { from, to })) moved.push(user);
          report(`${at + 1} of ${users.length} done`);
        }
      });
      if (json) printJson({ data: moved }, terminal.print);
      else terminal.print(`${counted(moved.length)} moved from ${from} to ${to}.`);
    }),
  );

/** Replaces a model of an agent or an organization. Returns `false` if it was changed or deleted after it was listed. */
function move(
  context: Context,
  { organization, agent }: UserOfModel,
  models: { from: string; to: string },
): Promise<boolean> {
  if (agent !== undefined) return replaceAgentModel(context, organization, agent, models);
  return replaceDefaultModel(context, organization, models);
}

function dryRunText(users: readonly UserOfModel[], from: string, to: string): string {
  if (users.length === 0) return `No agent and no organization has the model ${from}.`;
  const rows = users.map(({ organization, agent }) => [organization, agent ?? '(default model of the organization)']);
  return `${columns([['organization', 'agent'], ...rows])}\n${counted(users.length)} would move from ${from} to ${to}. Nothing was changed.`;
}

const counted = (count: number) => (count === 1 ? '1 agent or default' : `${count} agents and defaults`);
