import { CloudWatchClient, paginateListMetrics } from '@aws-sdk/client-cloudwatch';
import { type MetricName, metricDimension, metricNamespace, modelDimension } from '../../../lib/names/metrics.ts';
import { readDeployedStack, withAllowedModels } from '../../aws/deployed/deployed-data.ts';
import { type DeploySettings, settingsFileOf, stackNameOf, withDefaultModel } from '../../aws/settings.ts';
import { type Finding, unreadableFinding } from './finding.ts';

const metric: MetricName = 'TokensUsed';

/** Says which models the list has: CloudWatch lists a metric for two weeks after its last value. */
const since = 'in the last two weeks';

/**
 * Lists the models that a deployed stack has called lately, and compares them with the models that the settings allow.
 * Returns no finding for a stack that has called none.
 *
 * @param region the region of the stack
 */
export async function checkModelsInUse(settings: DeploySettings, region: string): Promise<Finding[]> {
  const stack = stackNameOf(settings);
  try {
    const models = await modelsCalledBy(stack);
    if (models.length === 0) return [];
    const { allowedModels } = withDefaultModel(withAllowedModels(settings, await readDeployedStack(stack)), region);
    const called = `${stack} called these models ${since}: ${models.join(', ')}.`;
    if (!allowedModels)
      return [
        {
          state: 'warning',
          what: `${called} Agents may name every other model too, and functions may call it.`,
          todo: `Set "allowedModels" in ${settingsFileOf(settings.stage)} to "default" or to a list of models. Agents that were not executed ${since} may have others.`,
        },
      ];
    const others = models.filter((model) => !allowedModels.includes(model));
    if (others.length === 0) return [{ state: 'ok', what: `${called} All of them are allowed.` }];
    return [
      {
        state: 'warning',
        what: `${called} These are not in allowedModels: ${others.join(', ')}. Executions of agents with them fail.`,
        todo: `Add them to "allowedModels", or move the agents: npm run crewboard -- agents move-model --from ${others[0]} --to ${allowedModels[0]} --dry-run --stack ${stack}`,
      },
    ];
  } catch (error) {
    return [unreadableFinding('The list of the models in use', error, 'cloudwatch:ListMetrics')];
  }
}

async function modelsCalledBy(stack: string): Promise<string[]> {
  const of = { Namespace: metricNamespace, MetricName: metric };
  const Dimensions = [{ Name: metricDimension, Value: stack }, { Name: modelDimension }];
  const pages = await Array.fromAsync(paginateListMetrics({ client: new CloudWatchClient({}) }, { ...of, Dimensions }));
  const dimensions = pages.flatMap(({ Metrics = [] }) => Metrics.flatMap((one) => one.Dimensions ?? []));
  const models = dimensions.flatMap(({ Name, Value }) => (Name === modelDimension && Value ? [Value] : []));
  return [...new Set(models)].sort();
}
