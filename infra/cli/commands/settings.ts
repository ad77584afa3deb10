import { Option } from '@commander-js/extra-typings';
import type { App } from '../../../lib/app.ts';
import { ModelName } from '../../../lib/contract/agents.ts';
import { globalProfile, isAllowed } from '../../../lib/contract/models.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { highestLimit } from '../../../lib/deployment/limits.ts';
import {
  changeSettings,
  type OrganizationSettings,
  readSettings,
  type SettingsChange,
} from '../../../lib/table/settings.ts';
import { readStoredTokens } from '../../../lib/table/tokens.ts';
import { Problem } from '../../local/problem.ts';
import { columns } from '../columns.ts';
import { command, organizationOption, readBy, stackOption, wholeNumber } from '../command.ts';
import { openDeployment } from '../deployments.ts';

type SettingName = keyof OrganizationSettings;

/** The settings: the option of each, what the deployment has instead, and what a change of it does. */
const rows = {
  defaultModel: {
    option: 'default-model',
    of: ({ defaultModel }: App) => defaultModel,
    effect: (model: string) => `agents that name no model are given ${model} from now on`,
  },
  requestsPerMinute: {
    option: 'requests-per-minute',
    of: ({ limits }: App) => limits.requestsPerMinute,
    effect: (limit: string) => `${limit} requests a minute are answered, within 30 seconds from now`,
  },
  executionsPerMinute: {
    option: 'executions-per-minute',
    of: ({ limits }: App) => limits.executionsPerMinute,
    effect: (limit: string) => `${limit} executions a minute can be started from now on`,
  },
} satisfies Record<
  SettingName,
  { option: string; of: (app: App) => string | number | undefined; effect: (value: string) => string }
>;

const names = Object.keys(rows) as SettingName[];
const options = names.map((name) => `--${rows[name].option}`).join(', ');
const unchanged = 'A model is not changed for agents that exist: it was written into them when they were created.';

const show = command(
  'show',
  'Show what is set of an organization',
  'npm run --silent settings -- show --org acme',
  'npm run --silent settings -- show --org acme --stack Crewboard',
)
  .addOption(organizationOption())
  .addOption(stackOption())
  .action(async ({ org, stack }) => {
    const app = await openFor(org, stack);
    const own = await readSettings(app, org);
    const shown = names.map((name) => [
      rows[name].option,
      String(own[name] ?? rows[name].of(app) ?? 'no limit'),
      own[name] === undefined ? 'the deployment' : org,
    ]);
    console.log(columns([['setting', 'value', 'set by'], ...shown]));
  });

const set = command(
  'set',
  'Set something of an organization',
  `npm run --silent settings -- set --org acme --default-model ${globalProfile}`,
  'npm run --silent settings -- set --org acme --requests-per-minute 6000 --executions-per-minute 300',
)
  .description(`Set something of an organization. ${unchanged}`)
  .addOption(organizationOption())
  .option(
    '--default-model <model>',
    'the model of agents that name none, as Bedrock knows it; whether it does is seen when it is first asked',
    readBy(ModelName),
  )
  .addOption(limitOption('requests-per-minute', 'how many requests are answered in a minute; more are answered 429'))
  .addOption(limitOption('executions-per-minute', 'how many executions can be started in a minute'))
  .addOption(stackOption())
  .action(async ({ org, stack, ...given }) => change(org, stack, given));

const unset = command(
  'unset',
  'Leave something of an organization to the deployment again',
  'npm run --silent settings -- unset --org acme --default-model',
)
  .description(`Leave something of an organization to the deployment again. ${unchanged}`)
  .addOption(organizationOption())
  .option('--default-model', 'the model of agents that name none')
  .option('--requests-per-minute', 'how many requests are answered in a minute')
  .option('--executions-per-minute', 'how many executions can be started in a minute')
  .addOption(stackOption())
  .action(async ({ org, stack, ...given }) =>
    change(org, stack, Object.fromEntries(Object.keys(given).map((name) => [name, undefined]))),
  );

/** `npm run settings`: what an organization has otherwise than its deployment. */
export const settings = command(
  'settings',
  'Show, set and unset what an organization has otherwise than its deployment',
  'npm run --silent settings -- show --org acme',
  'npm run --silent settings -- set --org acme --requests-per-minute 6000',
  'npm run --silent settings -- unset --org acme --default-model',
)
  .addCommand(show)
  .addCommand(set)
  .addCommand(unset);

function limitOption<const Flag extends string>(flag: Flag, description: string) {
  return new Option(`--${flag} <number>`, description).argParser(wholeNumber(highestLimit));
}

/** Changes settings of an organization, and says what each change does. */
async function change(organization: Organization, stack: string | undefined, given: SettingsChange): Promise<void> {
  const changed = names.filter((name) => name in given);
  if (changed.length === 0) throw new Problem(`Name at least one setting: ${options}.`);
  const app = await openFor(organization, stack);
  if (given.defaultModel !== undefined) rejectModel(given.defaultModel, app);
  await changeSettings(app, organization, given);
  for (const name of changed) {
    const deployed = rows[name].of(app);
    const value = given[name] ?? (deployed === undefined ? 'any number of' : `the deployment's ${deployed}`);
    console.log(`In ${organization}, ${rows[name].effect(String(value))}.`);
  }
}

/**
 * Refuses a model that agents of a deployment may not name.
 *
 * @throws `Problem` that names the allowed ones
 */
export function rejectModel(model: string, { allowedModels }: Pick<App, 'allowedModels'>): void {
  if (!isAllowed(model, allowedModels))
    throw new Problem(`The deployment does not allow the model ${model}; choose one of ${allowedModels?.join(', ')}.`);
}

/**
 * The app of a deployment that has this organization.
 *
 * @throws `Problem` where it has not: a name that is mistyped must not get settings
 */
async function openFor(organization: Organization, stack: string | undefined): Promise<App> {
  const app = await openDeployment(stack);
  if ((await readStoredTokens(app, organization)).length === 0)
    throw new Problem(
      `There is no organization ${organization}: no token was ever made of it. Make one by token create.`,
    );
  return app;
}
