import { Option } from '@commander-js/extra-typings';
import type { Context } from '../../../lib/context/context.ts';
import { ModelName } from '../../../lib/contract/agents/agents.ts';
import { globalProfile, isAllowed } from '../../../lib/contract/agents/models.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { numberSettings } from '../../../lib/settings/number-settings.ts';
import { readTokensToday } from '../../../lib/table/executions/running.ts';
import {
  changeSettings,
  type OrganizationSettings,
  readOrganizationSettings,
  type SettingsChange,
} from '../../../lib/table/organizations/settings.ts';
import { readStoredTokens } from '../../../lib/table/organizations/tokens.ts';
import { Problem } from '../../problem.ts';
import { columns } from '../columns.ts';
import { command, jsonOption, organizationOption, readBy, stackOption, wholeNumber } from '../command.ts';
import { printJson } from '../json.ts';
import { type OperatorOperation, operate } from '../operation.ts';

type SettingName = keyof OrganizationSettings;

/** The settings of an organization: the option of each, the value of the deployment, and the effect of a change. */
const rows = {
  defaultModel: {
    option: 'default-model',
    deployed: ({ defaultModel }: Context) => defaultModel,
    effect: (model: string) => `new agents without a model get ${model}`,
  },
  requestsPerMinute: {
    option: 'requests-per-minute',
    deployed: ({ limits }: Context) => limits.requestsPerMinute,
    effect: (limit: string) => `${limit} requests a minute are allowed, everywhere within 30 seconds`,
  },
  executionsPerMinute: {
    option: 'executions-per-minute',
    deployed: ({ limits }: Context) => limits.executionsPerMinute,
    effect: (limit: string) => `${limit} new executions a minute are allowed`,
  },
  dailyTokens: {
    option: 'daily-tokens',
    deployed: ({ limits }: Context) => limits.dailyTokens,
    effect: (limit: string) => `${limit} tokens a UTC day are allowed`,
  },
} satisfies Record<
  SettingName,
  { option: string; deployed: (context: Context) => string | number | undefined; effect: (value: string) => string }
>;

const names = Object.keys(rows) as SettingName[];
const options = names.map((name) => `--${rows[name].option}`).join(', ');
const unchanged = 'Existing agents keep their model, because it is stored with the agent.';

const show = command(
  'show',
  'Show the settings of an organization',
  'npm run --silent crewboard -- settings show --org acme',
  'npm run --silent crewboard -- settings show --org acme --stack Crewboard',
)
  .addOption(organizationOption())
  .addOption(stackOption())
  .addOption(jsonOption())
  .action(
    operate(async (operation, { org, json }) => {
      const context = await createContextFor(operation, org);
      const [own, usedToday] = await Promise.all([
        readOrganizationSettings(context, org),
        readTokensToday(context, org, context.clock()),
      ]);
      const found = names.map((name) => ({
        setting: rows[name].option,
        value: own[name] ?? rows[name].deployed(context),
        isOwn: own[name] !== undefined,
        ...(name === 'dailyTokens' && { usedToday }),
      }));
      if (json) return printJson({ data: found }, operation.terminal.print);
      const shown = found.map(({ setting, value, isOwn, usedToday: used }) => [
        setting,
        String(value ?? 'no limit'),
        isOwn ? org : 'the deployment',
        String(used ?? ''),
      ]);
      operation.terminal.print(columns([['setting', 'value', 'set by', 'used today'], ...shown]));
    }),
  );

const set = command(
  'set',
  'Set settings of an organization',
  `npm run --silent crewboard -- settings set --org acme --default-model ${globalProfile}`,
  'npm run --silent crewboard -- settings set --org acme --requests-per-minute 6000 --executions-per-minute 300',
  'npm run --silent crewboard -- settings set --org acme --daily-tokens 2000000',
)
  .description(`Set settings of an organization. ${unchanged}`)
  .addOption(organizationOption())
  .option(
    '--default-model <model>',
    'the default model of agents, a model id or an inference profile of Bedrock; it is not checked',
    readBy(ModelName),
  )
  .addOption(limitOption('requests-per-minute', 'the limit of requests a minute; requests over it get 429'))
  .addOption(limitOption('executions-per-minute', 'the limit of new executions a minute'))
  .addOption(
    limitOption(
      'daily-tokens',
      'the budget of tokens of executions and self-improvement in a UTC day; starts over it get 429',
      numberSettings.dailyTokens.most,
    ),
  )
  .addOption(stackOption())
  .hook('preAction', rejectNoSetting)
  .action(operate((operation, { org, stack, ...given }) => change(operation, org, given)));

const unset = command(
  'unset',
  'Reset settings of an organization to those of the deployment',
  'npm run --silent crewboard -- settings unset --org acme --default-model',
)
  .description(`Reset settings of an organization to those of the deployment. ${unchanged}`)
  .addOption(organizationOption())
  .option('--default-model', 'the default model of agents')
  .option('--requests-per-minute', 'the limit of requests a minute')
  .option('--executions-per-minute', 'the limit of new executions a minute')
  .option('--daily-tokens', 'the budget of tokens of executions and self-improvement in a UTC day')
  .addOption(stackOption())
  .hook('preAction', rejectNoSetting)
  .action(
    operate((operation, { org, stack, ...given }) =>
      change(operation, org, Object.fromEntries(Object.keys(given).map((name) => [name, undefined]))),
    ),
  );

/** `npm run crewboard -- settings`: the settings of an organization that override the settings of the deployment. */
export const settings = command(
  'settings',
  'Show, set and unset settings of an organization that override those of the deployment',
  'npm run --silent crewboard -- settings show --org acme',
  'npm run --silent crewboard -- settings set --org acme --requests-per-minute 6000',
  'npm run --silent crewboard -- settings unset --org acme --default-model',
)
  .addCommand(show)
  .addCommand(set)
  .addCommand(unset);

function limitOption<const Flag extends string>(
  flag: Flag,
  description: string,
  highest: number = numberSettings.requestsPerMinute.most,
) {
  return new Option(`--${flag} <number>`, description).argParser(wholeNumber(highest));
}

/** Returns the settings that options name. */
const settingsIn = (given: object) => names.filter((name) => name in given);

/**
 * Throws if the options of a command name no setting.
 *
 * @throws `Problem` that names all settings
 */
function rejectNoSetting(command: { opts: () => object }): void {
  if (settingsIn(command.opts()).length === 0) throw new Problem(`Name at least one setting: ${options}.`);
}

/** Changes settings of an organization, and prints the effect of each change. */
async function change(operation: OperatorOperation, organization: Organization, given: SettingsChange): Promise<void> {
  const context = await createContextFor(operation, organization);
  if (given.defaultModel !== undefined) rejectModel(given.defaultModel, context);
  await changeSettings(context, organization, given);
  for (const name of settingsIn(given)) {
    const deployed = rows[name].deployed(context);
    const value = given[name] ?? (deployed === undefined ? 'any number of' : `the deployment's ${deployed}`);
    operation.terminal.print(`In ${organization}, ${rows[name].effect(String(value))}.`);
  }
}

/**
 * Throws if a deployment does not allow a model.
 *
 * @throws `Problem` that names the allowed models
 */
export function rejectModel(model: string, { allowedModels }: Pick<Context, 'allowedModels'>): void {
  if (!isAllowed(model, allowedModels))
    throw new Problem(`The deployment does not allow the model ${model}; choose one of ${allowedModels?.join(', ')}.`);
}

/**
 * Creates the context of a deployment that has this organization.
 *
 * @throws `Problem` if the organization does not exist, so that a mistyped name gets no settings
 */
async function createContextFor({ createContext }: OperatorOperation, organization: Organization): Promise<Context> {
  const context = await createContext();
  if ((await readStoredTokens(context, organization)).length === 0)
    throw new Problem(`The organization ${organization} does not exist; create its first token with token create.`);
  return context;
}
