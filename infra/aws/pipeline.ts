import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { FilterCriteria, FilterRule, RecursiveLoop, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type Clock, type Consumer, type ConsumerName, consumers, type Source } from '../../lib/names/consumers.ts';
import {
  longestDelaySeconds,
  maxReceiveCount,
  type QueueName,
  queues,
  type WorkQueue,
  workQueues,
} from '../../lib/names/queues.ts';
import { type Polling, pollingOf } from '../../lib/settings/polling.ts';
import type { ServiceTable } from './data/table.ts';
import { mayAskModels } from './functions/model-access.ts';
import { constructIdOf, ServiceFunction, type SharedProps } from './functions/service-function.ts';
import type { ServiceLog } from './functions/service-log.ts';
import { FunctionRole, ServiceRole } from './functions/service-role.ts';

/** The maximum retention of SQS. The time of a dead letter also counts from when its message was first sent. */
const deadLetterRetention = Duration.days(14);

/**
 * The retention of messages. A first attempt exists only as its message, so the message must outlast a fault that takes
 * days to correct. It is 4 days shorter than the retention of dead letters: a message that becomes a dead letter on its
 * last day is kept for these 4 days, in which operators can redrive it.
 */
const messageRetention = Duration.days(10);

/** The age at which Lambda skips a record of the stream. The stream keeps it for 24 h: operators can still read it. */
const maxRecordAge = Duration.hours(20);

/** The asynchronous part of the service: the queues, and the functions that the stream, the queues and schedules call. */
export class Pipeline extends Construct {
  readonly queues: Record<QueueName, Queue>;
  /** The log of each function. */
  readonly logs: Readonly<Record<ConsumerName, ServiceLog>>;

  constructor(scope: Construct, id: string, shared: SharedProps) {
    super(scope, id);
    const { table, secretsKey, settings } = shared;
    const createdQueues = createQueues(this, settings.retryLadder);
    this.queues = createdQueues;
    const sources: Sources = {
      table,
      queues: createdQueues,
      polling: pollingOf(settings.lambdaConcurrency, settings.queues),
      scheduler: new ServiceRole(this, 'SchedulerRole', 'scheduler.amazonaws.com', {
        // Only for schedules of this account: the service also works for others.
        StringEquals: { 'aws:SourceAccount': Stack.of(this).account },
      }),
    };
    const logs: Partial<Record<ConsumerName, ServiceLog>> = {};

    for (const [name, consumer] of Object.entries(consumers) as [ConsumerName, Consumer][]) {
      const role = new FunctionRole(this, constructIdOf(name), settings);
      const handler = new ServiceFunction(this, name, {
        ...shared,
        role,
        folder: 'pipeline',
        description: `Called by ${consumer.sources.map(nameOf).join(', ')}`,
        timeoutSeconds: consumer.timeoutSeconds,
        memoryMegabytes: consumer.memoryMegabytes,
        // By default Lambda stops a chain of about 16 calls. The retry schedule needs more, and ends by itself.
        recursiveLoop: sendsToItself(consumer) ? RecursiveLoop.ALLOW : RecursiveLoop.TERMINATE,
      });
      logs[name] = role.logGroup;
      table.allowReads(handler);
      table.allowWrites(handler);
      table.hideTokens(handler);
      for (const target of consumer.sendsTo) {
        createdQueues[target].grant(handler, 'sqs:SendMessage');
        // In AWS the right to send includes batches. The emulator checks a separate action.
        if (settings.emulator) createdQueues[target].grant(handler, 'sqs:SendMessageBatch');
        handler.addEnvironment(queues[target].urlVariable, createdQueues[target].queueUrl);
      }
      if (consumer.asksModels) handler.addToRolePolicy(mayAskModels(settings));
      if (consumer.secrets) secretsKey.allow(handler, consumer.secrets);
      for (const source of consumer.sources) addEventSource(handler, source, sources);
      if (!consumer.sources.some((source) => 'everySeconds' in source)) continue;
      table.allowDueReads(handler);
      disableRetries(handler);
    }
    this.logs = logs as Record<ConsumerName, ServiceLog>;
  }
}

function sendsToItself({ sources, sendsTo }: Consumer): boolean {
  return sources.some((source) => 'queue' in source && sendsTo.includes(source.queue));
}

/** The queues of the retries, in the order of the retry schedule. */
const retryQueues: readonly QueueName[] = ['firstRetry', 'secondRetry', 'thirdRetry'];

/**
 * Creates all queues. `deadLetters` is the dead-letter queue of the others. The queues of retries have the delay of their step
 * of the retry schedule, as far as SQS can delay. Each message has its own delay, also if that is 0, which replaces the delay
 * of its queue.
 */
function createQueues(scope: Construct, retryLadder: readonly number[]): Record<QueueName, Queue> {
  const create = (name: QueueName, rest?: QueueProps) =>
    new Queue(scope, constructIdOf(name), {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: Duration.seconds(queues[name].visibilitySeconds),
      ...rest,
    });
  const deadLetters = create('deadLetters', { retentionPeriod: deadLetterRetention });
  const others = workQueues.map((name) => {
    const step = retryLadder[retryQueues.indexOf(name)];
    const queue = create(name, {
      ...(step !== undefined && { deliveryDelay: Duration.seconds(Math.min(step, longestDelaySeconds)) }),
      retentionPeriod: messageRetention,
      deadLetterQueue: { queue: deadLetters, maxReceiveCount },
    });
    return [name, queue];
  });
  return { ...Object.fromEntries(others), deadLetters };
}

function nameOf(source: Source): string {
  if ('stream' in source) return `changes of ${source.kinds.join(', ')}`;
  return 'queue' in source
    ? `the queue of ${source.queue}`
    : `a schedule, every ${source.everySeconds} s for ${source.job}`;
}

/** The event sources of functions, the polling of the queues, and the role of the schedules. */
type Sources = {
  table: ServiceTable;
  queues: Record<QueueName, Queue>;
  polling: Record<WorkQueue, Polling>;
  scheduler: ServiceRole;
};

/** Events that wait longer are dropped. EventBridge Scheduler and Lambda accept no lower limit. */
const eventAgeLimit = Duration.seconds(60);

/**
 * Turns off retries of asynchronous calls, such as calls by schedules. By default Lambda retries a failed call twice and
 * keeps events for six hours. Retries are not needed: the next call of the schedule does the same work.
 */
function disableRetries(handler: ServiceFunction): void {
  handler.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: eventAgeLimit });
}

/** Returns the patterns of the changes that a source of the stream has: each change matches one of them, or none. */
function filtersOf({ kinds, onlyNew, quiet }: Extract<Source, { stream: 'table' }>): object[] {
  const of = (...names: readonly string[]) => ({ kind: { S: FilterRule.or(...names) } });
  const others = kinds.filter((kind) => kind !== quiet.kind);
  const isOther = { [quiet.attribute]: { S: FilterRule.notEquals(quiet.value) } };
  return [
    { dynamodb: { NewImage: of(...others) } },
    { dynamodb: { NewImage: { ...of(quiet.kind), ...isOther } } },
    { eventName: FilterRule.or('INSERT'), dynamodb: { NewImage: of(quiet.kind, ...onlyNew) } },
    { eventName: FilterRule.or('REMOVE'), dynamodb: { OldImage: of(...kinds) } },
  ];
}

function addEventSource(
  handler: ServiceFunction,
  source: Source,
  { table, queues: sourceQueues, polling, scheduler }: Sources,
): void {
  if ('stream' in source) {
    handler.addEventSource(
      new DynamoEventSource(table.inUse, {
        batchSize: source.batchSize,
        parallelizationFactor: source.concurrency,
        filters: filtersOf(source).map((pattern) => FilterCriteria.filter(pattern)),
        startingPosition: StartingPosition.TRIM_HORIZON,
        // Records are skipped by age, not by the number of attempts: an outage of hours must lose no events, and a record
        // that always fails must not block its shard for a day.
        maxRecordAge,
        retryAttempts: -1,
        bisectBatchOnError: true,
        reportBatchItemFailures: true,
      }),
    );
  } else if ('queue' in source) {
    handler.addEventSource(
      new SqsEventSource(sourceQueues[source.queue], {
        batchSize: polling[source.queue].batchSize,
        maxConcurrency: polling[source.queue].concurrency,
        reportBatchItemFailures: true,
      }),
    );
  } else addSchedule(handler, source, scheduler);
}

/** Adds a schedule that calls a function for a job. If it calls no more, its heartbeat stops too, and an alarm is raised. */
function addSchedule(handler: ServiceFunction, { everySeconds, job }: Clock, role: ServiceRole): void {
  const { functionArn } = handler;
  role.addToPrincipalPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [functionArn] }));
  new Schedule(handler.node.scope as Construct, `${constructIdOf(job)}Schedule`, {
    description: `Calls ${handler.node.id} for the job ${job}`,
    schedule: ScheduleExpression.rate(Duration.seconds(everySeconds)),
    target: new LambdaInvoke(handler, {
      // The CDK would add the right to all versions of the function.
      role: role.withoutPolicyUpdates(),
      input: ScheduleTargetInput.fromObject({ detail: { job } }),
      // By default a call is retried for a day. The next call of the schedule does the same work.
      retryAttempts: 0,
      maxEventAge: eventAgeLimit,
    }),
  });
}
