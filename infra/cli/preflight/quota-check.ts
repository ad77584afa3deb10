import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type Consumer, consumers, type Source } from '../../../lib/deployment/consumers.ts';
import { pollingOf } from '../../../lib/deployment/polling.ts';
import { type Settings, settingsFileOf } from '../../aws/settings.ts';
import { type Finding, unread } from './finding.ts';

const increase =
  'aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000';

/**
 * Finds whether the account's quota of concurrent functions leaves room for the API beside the pipeline. Too small a
 * quota is a problem for a stack that lasts, and a warning for an ephemeral one.
 */
export async function findConcurrency(settings: Settings): Promise<Finding> {
  try {
    const { AccountLimit } = await new LambdaClient({}).send(new GetAccountSettingsCommand({}));
    const quota = AccountLimit?.ConcurrentExecutions ?? 0;
    const asked = callsAtOnce(settings);
    if (quota > asked) return { state: 'ok', what: `Lambda runs ${quota} functions at the same time here.` };
    const isEnough = quota > callsAtOnce({ ...settings, lambdaConcurrency: quota });
    return {
      state: settings.ephemeral ? 'warning' : 'problem',
      what: `Lambda runs only ${quota} functions at the same time here, and the pipeline alone may take ${asked}: requests are answered 503 while it is busy.`,
      todo: isEnough
        ? `Set "lambdaConcurrency": ${quota} in ${settingsFileOf(settings.stage)}, or ask for more: ${increase}`
        : `${increase} (for a trial until then: npx cdk deploy -c stage=small)`,
    };
  } catch (error) {
    return unread('The quota of Lambda', error, 'lambda:GetAccountSettings');
  }
}

/** Returns how many calls of functions the stream, the queues and the clock make at the same time, at most. */
function callsAtOnce({ lambdaConcurrency, queues }: Pick<Settings, 'lambdaConcurrency' | 'queues'>): number {
  const polling = pollingOf(lambdaConcurrency, queues);
  const sources: Source[] = Object.values<Consumer>(consumers).flatMap((consumer) => consumer.sources);
  return sources.reduce((sum, source) => sum + ('queue' in source ? polling[source.queue].concurrency : 1), 0);
}
