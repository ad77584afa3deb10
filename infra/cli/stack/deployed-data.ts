import { type Settings, settingsFileOf, stackNameOf } from '../../aws/settings.ts';
import { type Outputs, outputsOf, type Resource, resourcesOf } from './stack.ts';

/** What a deployed stack says of itself. */
export type DeployedStack = { outputs: Outputs; resources: readonly Resource[] };

/** The types of the table and the key that a stack creates for itself, one of each. */
export const ownTypes = { table: 'AWS::DynamoDB::GlobalTable', key: 'AWS::KMS::Key' } as const;

/**
 * Reads what a deployed stack says of itself.
 *
 * @returns `undefined` for a stack that was never deployed
 * @throws `Problem` where the stack cannot be read
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
 * Returns a message for the table and for the key of a deployed stack, if a deploy with these settings would replace it
 * by another one. A change that the settings confirm is not among them.
 */
export function unconfirmedChanges(settings: Settings, { outputs, resources }: DeployedStack): string[] {
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
      // Stacks of before 22 November 2026 have no such output, and always a key of their own.
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
        `${stack} uses the ${what} ${deployed}; this deploy would replace it by ${next}. ` +
        `To keep it, write ${keep} to ${file}. To confirm the change, write "${confirm}": "${deployed}" there.`,
    );
}

/**
 * Refuses a deploy that would run a stack on another table or key than the deployed one.
 *
 * @throws Error that says what would change, or why that cannot be found out
 */
export async function rejectOtherData(settings: Settings): Promise<void> {
  const deployed = await readDeployedStack(stackNameOf(settings)).catch((error: Error) => {
    throw new Error(`${error.message}\n${unreadTodo}`, { cause: error });
  });
  const changes = deployed ? unconfirmedChanges(settings, deployed) : [];
  if (changes.length > 0) throw new Error(changes.join('\n'));
}

/** What to do where the deployed stack cannot be read: the SDK finds fewer kinds of credentials than the CDK. */
const unreadTodo =
  'A deploy compares the table and the key with the deployed ones, which needs cloudformation:DescribeStacks and ' +
  'cloudformation:ListStackResources. Instead of --profile use: export AWS_PROFILE=name, or ' +
  'eval "$(aws configure export-credentials --profile name --format env)".';

function tableOfStream(arn: string | undefined): string | undefined {
  return arn && /:table\/([^/]+)/.exec(arn)?.[1];
}

/** The id of a key, which is the end of its ARN and the same in all Regions that it is replicated to. */
function keyIdOf(arn: string | undefined): string | undefined {
  return arn?.split('/').at(-1);
}
