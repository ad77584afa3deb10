import { type DeploySettings, settingsFileOf, stackNameOf } from '../settings.ts';
import { type Outputs, outputsOf, type Resource, resourcesOf } from './stack.ts';

/** The outputs and the resources of a deployed stack. */
export type DeployedStack = { outputs: Outputs; resources: readonly Resource[] };

/** The resource types of a stack's own table and own key. A stack creates one of each. */
export const ownTypes = { table: 'AWS::DynamoDB::GlobalTable', key: 'AWS::KMS::Key' } as const;

/**
 * Reads the outputs and the resources of a deployed stack.
 *
 * @returns `undefined` for a stack that was never deployed
 * @throws `Problem` if the stack cannot be read
 */
export async function readDeployedStack(stack: string): Promise<DeployedStack | undefined> {
  try {
    const [outputs, resources] = await Promise.all([outputsOf(stack), resourcesOf(stack)]);
    return { outputs, resources };
  } catch (error) {
    if ((error as Error).message.includes('does not exist')) return undefined;
    throw error;
  }
}

/**
 * Returns a message if a deploy with these settings would replace the table of a deployed stack, and one if it would
 * replace the key. Changes that the settings confirm are excluded.
 */
export function unconfirmedChanges(settings: DeploySettings, { outputs, resources }: DeployedStack): string[] {
  const own = (type: string) => resources.find((resource) => resource.type === type)?.name;
  const changes = [
    {
      what: 'table',
      deployed: outputs.TableName,
      next: tableOfStream(settings.restoredStream) ?? own(ownTypes.table),
      confirmed: settings.replacedTable,
      keep: 'the ARN of its stream as "restoredStream"',
      confirm: 'replacedTable',
    },
    {
      what: 'key',
      // Stacks from before 22 November 2026 have no such output, and always use their own key.
      deployed: keyIdOf(outputs.SecretsKeyArn) ?? own(ownTypes.key),
      next: keyIdOf(settings.secretsKey) ?? own(ownTypes.key),
      confirmed: keyIdOf(settings.replacedKey),
      keep: 'its ARN as "secretsKey"',
      confirm: 'replacedKey',
    },
  ];
  const stack = stackNameOf(settings);
  const file = settingsFileOf(settings.stage);
  return changes
    .filter(({ deployed, next, confirmed }) => deployed && deployed !== next && deployed !== confirmed)
    .map(
      ({ what, deployed, next = 'a new one', keep, confirm }) =>
        `${stack} uses the ${what} ${deployed}; this deploy would replace it with ${next}. ` +
        `To keep it, write ${keep} to ${file}. To confirm the change, write "${confirm}": "${deployed}" there.`,
    );
}

/**
 * Returns the settings with the models that agents may name, if they name none: the default model only for a new stack, and
 * for one that is limited to models already; every model for a stack from before a new one was limited.
 *
 * @param deployed `undefined` for a stack that was never deployed
 */
export function withAllowedModels(settings: DeploySettings, deployed: DeployedStack | undefined): DeploySettings {
  const { allowedModels } = settings;
  // A stack whose first deploy failed has no outputs.
  const { outputs = {} } = deployed ?? {};
  const isLimited = Object.keys(outputs).length === 0 || outputs.AllowedModels !== undefined;
  return { ...settings, allowedModels: allowedModels ?? (isLimited ? 'default' : 'every') };
}

/**
 * Compares the table and the key of the settings with the deployed ones.
 *
 * @returns the deployed stack; `undefined` if it was never deployed
 * @throws Error if a deploy would replace one of them, or if the deployed stack cannot be read
 */
export async function rejectOtherData(settings: DeploySettings): Promise<DeployedStack | undefined> {
  const deployed = await readDeployedStack(stackNameOf(settings)).catch((error: Error) => {
    throw new Error(`${error.message}\n${unreadTodo}`, { cause: error });
  });
  const changes = deployed ? unconfirmedChanges(settings, deployed) : [];
  if (changes.length > 0) throw new Error(changes.join('\n'));
  return deployed;
}

/** What to do if the deployed stack cannot be read: the SDK supports fewer kinds of credentials than the CDK. */
const unreadTodo =
  'A deploy compares the table and the key with the deployed ones. This needs cloudformation:DescribeStacks and ' +
  'cloudformation:ListStackResources. Instead of --profile, use export AWS_PROFILE=name or ' +
  'eval "$(aws configure export-credentials --profile name --format env)".';

function tableOfStream(arn: string | undefined): string | undefined {
  return arn && /:table\/([^/]+)/.exec(arn)?.[1];
}

/** Returns the id of a key, the last part of its ARN. Replicas of a key in other Regions have the same id. */
function keyIdOf(arn: string | undefined): string | undefined {
  return arn?.split('/').at(-1);
}
