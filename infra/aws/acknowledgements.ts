import { type Stack, Validations } from 'aws-cdk-lib';
import { modelPatterns } from './functions/model-access.ts';
import type { Settings } from './settings.ts';

/** Rules of cdk-nag that this stack knowingly does not follow, each with its reason. */
const everywhere = {
  'AwsSolutions::AwsSolutions-APIG4':
    'Tokens are checked by each function: an authorizer of an HTTP API can answer neither our 401 nor our envelope, and caches for minutes (docs/architecture.md#access-tokens).',
  'AwsSolutions::AwsSolutions-IAM5[Resource::*]':
    'An agent names its model itself. Optional parts write traces to X-Ray, and read alarms before a canary moves traffic. A test limits this to the roles that need it.',
  'Serverless::Serverless-LambdaStarPermissions':
    'The same rights as of AwsSolutions-IAM5: an agent names its model, and an optional part writes traces.',
  'Serverless::Serverless-LambdaDLQ':
    'No function is called asynchronously but the sweep, whose next call is its retry; what queues and stream give up is among the dead letters.',
  'Serverless::Serverless-LambdaAsyncFailureDestination':
    'Only schedules call a function asynchronously, without retries: the next call does the same work, and an alarm is raised where no heartbeat arrives.',
  'Serverless::Serverless-EventBusDLQ':
    'The rule is the clock of the sweep: a tick that is lost is made good by the next.',
  'Serverless::Serverless-LambdaTracing':
    'The request id on every item, message and log line tells the story of a request; X-Ray would be paid for by every call and tell less. The setting openTelemetry turns it on.',
  'Serverless::Serverless-LambdaEventSourceMappingDestination':
    'Queues have redrive policies, and the stream’s function sets aside what it can never publish with keys and images; a destination would be given metadata alone.',
  'Serverless::Serverless-SNSRedrivePolicy':
    'The topic of alarms mails one address; what cannot be mailed, nobody would read in a queue.',
  'Serverless::Serverless-SQSRedrivePolicy':
    'The queue without one holds the dead letters itself: nothing takes from it but an operator.',
};

/** Says where the stack departs from the rules of cdk-nag, and why. */
export function acknowledge(stack: Stack, settings: Settings): void {
  for (const [id, reason] of Object.entries(everywhere)) Validations.of(stack).acknowledge({ id, reason });
  for (const pattern of modelPatterns(settings))
    Validations.of(stack).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::${pattern}]`,
      reason: 'An inference profile sends prompts to its model in several regions, which AWS may change.',
    });
}
