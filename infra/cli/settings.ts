import type { App } from '../../lib/app.ts';
import { ModelName } from '../../lib/contract/agents.ts';
import { globalProfile, isAllowed } from '../../lib/contract/models.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { Problem } from '../local/problem.ts';
import { columns } from './columns.ts';
import { command, organizationOption, readBy, stackOption } from './command.ts';
import { openDeployment } from './deployments.ts';

const unchanged = 'Agents that there are keep their model: it was written into them when they were created.';

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
    const { defaultModel } = await app.settings.get(org);
    const row = defaultModel === undefined ? [app.defaultModel, 'the deployment'] : [defaultModel, org];
    console.log(
      columns([
        ['setting', 'value', 'set by'],
        ['default-model', ...row],
      ]),
    );
  });

const set = command(
  'set',
  'Set something of an organization',
  `npm run --silent settings -- set --org acme --default-model ${globalProfile}`,
)
  .description(`Set something of an organization. ${unchanged}`)
  .addOption(organizationOption())
  .requiredOption(
    '--default-model <model>',
    'the model of agents that name none, as Bedrock knows it; whether it does is seen when it is first asked',
    readBy(ModelName),
  )
  .addOption(stackOption())
  .action(async ({ org, defaultModel, stack }) => {
    const app = await openFor(org, stack);
    refuseModel(defaultModel, app);
    await app.settings.setDefaultModel(org, defaultModel);
    console.log(`In ${org}, agents that name no model are given ${defaultModel} from now on.`);
  });

const unset = command(
  'unset',
  'Leave something of an organization to the deployment again',
  'npm run --silent settings -- unset --org acme --default-model',
)
  .description(`Leave something of an organization to the deployment again. ${unchanged}`)
  .addOption(organizationOption())
  .requiredOption('--default-model', 'the model of agents that name none')
  .addOption(stackOption())
  .action(async ({ org, stack }) => {
    const app = await openFor(org, stack);
    await app.settings.setDefaultModel(org, undefined);
    console.log(
      `In ${org}, agents that name no model are given that of the deployment, ${app.defaultModel}, from now on.`,
    );
  });

/** `npm run settings`: what an organization has otherwise than its deployment (specification, "Agents": the default model). */
export const settings = command(
  'settings',
  'Show, set and unset what an organization has otherwise than its deployment',
  'npm run --silent settings -- show --org acme',
  'npm run --silent settings -- unset --org acme --default-model',
)
  .addCommand(show)
  .addCommand(set)
  .addCommand(unset);

/**
 * Refuses a model that agents of a deployment may not name.
 *
 * @throws `Problem` that names the allowed ones
 */
export function refuseModel(model: string, { allowedModels }: Pick<App, 'allowedModels'>): void {
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
  if ((await app.tokens.list(organization)).length === 0)
    throw new Problem(
      `There is no organization ${organization}: no token was ever made of it. Make one by token create.`,
    );
  return app;
}
