import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type Consumer, consumers, type Source } from '../../../lib/names/consumers.ts';
import { pollingOf } from '../../../lib/settings/polling.ts';
import { type DeploySettings, settingsFileOf } from '../../aws/settings.ts';
import { type Finding, unreadableFinding } from './finding.ts';

const increase =
  'aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000';

/**
 * Checks that the account's quota of concurrent functions is higher than the number of concurrent calls of the pipeline,
 * so that the API can run beside it. A quota that is too low is a problem, for an ephemeral stack a warning.
 */
export async function checkConcurrency(settings: DeploySettings): Promise<Finding> {
  try {
    const { AccountLimit } = await new LambdaClient({}).send(new GetAccountSettingsCommand({}));
    const quota = AccountLimit?.ConcurrentExecutions ?? 0;
    const needed = callsAtOnce(settings);
    if (quota > needed) return { state: 'ok', what: `The quota of Lambda is ${quota} concurrent functions.` };
    const isEnough = quota > callsAtOnce({ ...settings, lambdaConcurrency: quota });
    return {
      state: settings.ephemeral ? 'warning' : 'problem',
      what: `The quota of Lambda is only ${quota} concurrent functions, and the pipeline alone may use ${needed}. API requests get 503 while it is busy.`,
      todo: isEnough
        ? `Set "lambdaConcurrency": ${quota} in ${settingsFileOf(settings.stage)}, or request an increase: ${increase}`
        : `Request an increase: ${increase}. For a trial until then: npx cdk deploy -c stage=small`,
    };
  } catch (error) {
    return unreadableFinding('The quota of Lambda', error, 'lambda:GetAccountSettings');
  }
}

/** Returns the highest number of concurrent calls that the stream, the queues and the schedules make. */
function callsAtOnce({ lambdaConcurrency, queues }: Pick<DeploySettings, 'lambdaConcurrency' | 'queues'>): number {
  const polling = pollingOf(lambdaConcurrency, queues);
  const sources: Source[] = Object.values<Consumer>(consumers).flatMap((consumer) => consumer.sources);
  return sources.reduce((sum, source) => sum + ('queue' in source ? polling[source.queue].concurrency : 1), 0);
}
