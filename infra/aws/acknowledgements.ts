import { type Stack, Validations } from 'aws-cdk-lib';
import { invokedFunctions } from './api/invoker-role.ts';
import { modelPatterns } from './functions/model-access.ts';
import type { StackSettings } from './settings.ts';

/** The rules of cdk-nag from which the stack deliberately deviates, each with its reason. */
const everywhere = {
  'AwsSolutions::AwsSolutions-APIG4':
    'Each function checks tokens: an authorizer of an HTTP API can return neither our 401 nor our envelope, and caches for minutes (docs/architecture.md#access-tokens).',
  'AwsSolutions::AwsSolutions-IAM5[Resource::*]':
    'An agent names its model, and an optional part writes traces to X-Ray. A test limits this to the roles that need it.',
  'Serverless::Serverless-APIGWStructuredLogging':
    'Each line of the access log is JSON. The format is none, because it has the time of a response as a number, without quotes.',
  'Serverless::Serverless-LambdaStarPermissions':
    'These are the rights of AwsSolutions-IAM5: an agent names its model, and an optional part writes traces.',
  'Serverless::Serverless-LambdaDLQ':
    'Only the sweep is called asynchronously, and its next call is its retry. Failed messages of the queues and the stream go to the dead-letter queue.',
  'Serverless::Serverless-LambdaAsyncFailureDestination':
    'Only schedules call a function asynchronously, without retries: the next call does the same work, and an alarm is raised if no heartbeat arrives.',
  'Serverless::Serverless-LambdaTracing':
    'The request id on every item, message and log line traces a request. X-Ray would cost money for every call and show less. The setting openTelemetry turns it on.',
  'Serverless::Serverless-LambdaEventSourceMappingDestination':
    'Queues have redrive policies, and the function of the stream sets aside changes that it can never publish, with keys and images. A destination would receive metadata only.',
  'Serverless::Serverless-SNSRedrivePolicy':
    'The topic of alarms mails one address. A queue of undeliverable mails would have no reader.',
  'Serverless::Serverless-SQSRedrivePolicy':
    'The queue without a redrive policy is the dead-letter queue. Only operators receive from it.',
};

/** Acknowledges the rules of cdk-nag from which the stack deviates, with the reasons. */
export function acknowledge(stack: Stack, settings: StackSettings): void {
  for (const [id, reason] of Object.entries(everywhere)) Validations.of(stack).acknowledge({ id, reason });
  const functions = invokedFunctions(stack.stackName, '<AWS::Partition>', '<AWS::Region>', '<AWS::AccountId>');
  Validations.of(stack).acknowledge({
    id: `AwsSolutions::AwsSolutions-IAM5[Resource::${functions}]`,
    reason: 'API Gateway may invoke the functions of the API. A list of their ARNs would be too long for a role.',
  });
  for (const pattern of modelPatterns(settings))
    Validations.of(stack).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::${pattern}]`,
      reason: 'An inference profile sends prompts to its model in several regions, and AWS may change the regions.',
    });
}
