import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { FilterCriteria, FilterRule, RecursiveLoop, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  type Clock,
  type Consumer,
  type ConsumerName,
  consumers,
  type Source,
} from '../../lib/deployment/consumers.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { type Polling, pollingOf, slowAttemptsOf } from '../../lib/deployment/polling.ts';
import { maxReceiveCount, type QueueName, queues, type WorkQueue, workQueues } from '../../lib/deployment/queues.ts';
import type { ServiceTable } from './data/table.ts';
import { mayAskModels } from './functions/model-access.ts';
import { constructIdOf, ServiceFunction, type Surroundings } from './functions/service-function.ts';
import type { ServiceLog } from './functions/service-log.ts';
import { FunctionRole } from './functions/service-role.ts';

/** As long as SQS keeps anything. A dead letter's time runs from when it was first sent. */
const deadLettersKept = Duration.days(14);

/**
 * How long a message waits for a function. A first attempt is nowhere but in its message, so it should outlast a fault that
 * takes days to correct; and less than a dead letter is kept, so that the last tries of it leave days to look at.
 */
const messagesKept = Duration.days(10);

/** The stream keeps a record for 24 h; what is given up before that can still be read there. */
const maxRecordAge = Duration.hours(20);

/** What happens after a write: the queues, and the functions that the stream, the queues and the clock call. */
export class Pipeline extends Construct {
  readonly queues: Record<QueueName, Queue>;
  /** The log of each function. */
  readonly logs: Readonly<Record<ConsumerName, ServiceLog>>;

  constructor(scope: Construct, id: string, surroundings: Surroundings) {
    super(scope, id);
    const { table, secretsKey, settings } = surroundings;
    const built = buildQueues(this);
    this.queues = built;
    const sources: Sources = { table, queues: built, polling: pollingOf(settings.lambdaConcurrency, settings.queues) };
    const logs: Partial<Record<ConsumerName, ServiceLog>> = {};

    for (const [name, consumer] of Object.entries(consumers) as [ConsumerName, Consumer][]) {
      const role = new FunctionRole(this, constructIdOf(name), settings);
      const handler = new ServiceFunction(this, name, {
        ...surroundings,
        role,
        folder: 'pipeline',
        description: `Called by ${consumer.sources.map(nameOf).join(', ')}`,
        timeoutSeconds: consumer.timeoutSeconds,
        memoryMegabytes: consumer.memoryMegabytes,
        // Lambda ends a chain of about 16 calls; the retry ladder is longer, and ends by itself.
        recursiveLoop: feedsItself(consumer) ? RecursiveLoop.ALLOW : RecursiveLoop.TERMINATE,
      });
      logs[name] = role.logGroup;
      table.allowReads(handler);
      table.allowWrites(handler);
      table.hideTokens(handler);
      for (const to of consumer.sendsTo) {
        built[to].grant(handler, 'sqs:SendMessage');
        // AWS takes the right to send for a batch too, and knows no other; the emulator asks for one of that name.
        if (settings.emulator) built[to].grant(handler, 'sqs:SendMessageBatch');
        handler.addEnvironment(queues[to].urlVariable, built[to].queueUrl);
      }
      if (consumer.asksModels) handler.addToRolePolicy(mayAskModels(settings));
      if (consumer.secrets) {
        secretsKey.allow(handler, consumer.secrets);
        secretsKey.identifyTo(handler);
      }
      if (consumer.sources.some((source) => 'queue' in source && source.queue === 'slowDeliveries'))
        handler.addEnvironment(environment.slowAttempts, String(slowAttemptsOf(sources.polling)));
      for (const source of consumer.sources) connect(handler, source, sources);
      const clocks = consumer.sources.filter((source) => 'everySeconds' in source);
      if (clocks.length > 0) schedule(handler, clocks, table);
    }
    this.logs = logs as Record<ConsumerName, ServiceLog>;
  }
}

function feedsItself({ sources, sendsTo }: Consumer): boolean {
  return sources.some((source) => 'queue' in source && sendsTo.includes(source.queue));
}

/** All queues: what fails too often in any other goes to `deadLetters`. */
function buildQueues(scope: Construct): Record<QueueName, Queue> {
  const build = (name: QueueName, rest?: QueueProps) =>
    new Queue(scope, constructIdOf(name), {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: Duration.seconds(queues[name].visibilitySeconds),
      ...rest,
    });
  const deadLetters = build('deadLetters', { retentionPeriod: deadLettersKept });
  const others = workQueues.map((name) => [
    name,
    build(name, { retentionPeriod: messagesKept, deadLetterQueue: { queue: deadLetters, maxReceiveCount } }),
  ]);
  return { ...Object.fromEntries(others), deadLetters };
}

function nameOf(source: Source): string {
  if ('stream' in source) return `changes of ${source.kinds.join(', ')}`;
  return 'queue' in source
    ? `the queue of ${source.queue}`
    : `the clock, every ${source.everySeconds} s for ${source.job}`;
}

/** What calls functions, and how its queues do. */
type Sources = { table: ServiceTable; queues: Record<QueueName, Queue>; polling: Record<WorkQueue, Polling> };

/** The least that EventBridge and Lambda keep an event for. */
const shortestEventAge = Duration.seconds(60);

/**
 * Turns off the retries of asynchronous calls, which schedules make: by default Lambda calls a function that fails twice
 * more and keeps events for six hours. The next call of a schedule does the same work.
 */
function callOnce(handler: ServiceFunction): void {
  handler.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: shortestEventAge });
}

/** Has the stream or a queue call the function, as its row says. */
function connect(handler: ServiceFunction, source: Source, { table, queues: built, polling }: Sources): void {
  if ('stream' in source) {
    handler.addEventSource(
      new DynamoEventSource(table.inUse, {
        batchSize: source.batchSize,
        parallelizationFactor: source.concurrency,
        filters: ['NewImage', 'OldImage'].map((image) =>
          FilterCriteria.filter({ dynamodb: { [image]: { kind: { S: FilterRule.or(...source.kinds) } } } }),
        ),
        startingPosition: StartingPosition.TRIM_HORIZON,
        // Given up by age, not by count: a long fault of ours must not lose events, one bad record not block a day.
        maxRecordAge,
        retryAttempts: -1,
        bisectBatchOnError: true,
        reportBatchItemFailures: true,
      }),
    );
  } else if ('queue' in source) {
    handler.addEventSource(
      new SqsEventSource(built[source.queue], {
        batchSize: polling[source.queue].batchSize,
        maxConcurrency: polling[source.queue].concurrency,
        reportBatchItemFailures: true,
      }),
    );
  }
}

/**
 * Has the clock call the function, with a call of its own for each job. Jobs that are due equally often share a rule, so
 * that no job can be stopped without the others: an alarm watches the heartbeat, which is one of them. EventBridge allows a
 * rule five targets.
 */
function schedule(handler: ServiceFunction, clocks: readonly Clock[], table: ServiceTable): void {
  table.allowDueReads(handler);
  callOnce(handler);
  for (const [seconds, due] of Map.groupBy(clocks, ({ everySeconds }) => everySeconds)) {
    const targets = due.map(({ job }) => {
      const event = RuleTargetInput.fromObject({ detail: { job } });
      // EventBridge tries again for a day where it may not call the function; the next minute's event does as well.
      return new LambdaTarget(handler, { event, retryAttempts: 0, maxEventAge: shortestEventAge });
    });
    new Rule(handler, `Every${seconds}Seconds`, { schedule: Schedule.rate(Duration.seconds(seconds)), targets });
  }
}
