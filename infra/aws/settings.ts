import type { Node } from 'constructs';
import * as v from 'valibot';
import { environment, standardModel, workQueues } from '../../lib/contract/deployment.ts';
import { batchSizeBounds, concurrencyBounds, usualLambdaConcurrency } from '../../lib/contract/polling.ts';

/** What `cdk deploy -c name=value`, or `context` in cdk.json, can set of a stack. */
export type Settings = v.InferOutput<typeof schema>;

const words = (value: string) => value.split(',').map((one) => one.trim());

/** The command line gives every value as text, cdk.json as what it is. */
const number = (least: number, most: number) =>
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number))], 'must be a whole number'),
    v.integer('must be a whole number'),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  );

const flag = v.pipe(
  v.union([v.boolean(), v.picklist(['true', 'false', '1', '0'])], 'must be true or false'),
  v.transform((value) => ['true', '1'].includes(String(value))),
);

/** The periods that CloudWatch Logs can keep a log for, in days. */
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/** The command line gives an object as JSON text, cdk.json as what it is. */
const parsed = v.union([v.pipe(v.string(), v.parseJson()), v.unknown()]);

/** What a queue's polling can be set to. */
const polling = v.pipe(
  parsed,
  v.strictObject(
    v.entriesFromList(
      workQueues,
      v.optional(
        v.strictObject(
          {
            batchSize: v.optional(number(batchSizeBounds.least, batchSizeBounds.most)),
            concurrency: v.optional(number(concurrencyBounds.least, concurrencyBounds.most)),
          },
          'must be an object of batchSize and concurrency',
        ),
      ),
    ),
    `must be an object by the names of queues: ${workQueues.join(', ')}`,
  ),
);

const schema = v.object({
  /** Tells stacks of one account and region apart: the stack is `Crewboard-<stage>`, without one `Crewboard`. */
  stage: v.optional(
    v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be lower-case letters, digits and hyphens')),
  ),
  /** The model of agents that name none: a model id or an inference profile. */
  defaultModel: v.optional(v.pipe(v.string(), v.minLength(1, 'must not be empty')), standardModel),
  /** Where models are asked, if not in the stack's own region. */
  modelRegion: v.optional(
    v.pipe(v.string(), v.regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as eu-central-1')),
  ),
  /** How many seconds after each failed attempt a delivery is tried again. */
  retryLadder: v.optional(
    v.pipe(v.string(), v.regex(/^\d+( *, *\d+){2}$/, 'must be three numbers of seconds, as 300,1800,7200')),
    '300,1800,7200',
  ),
  /** How many executions of an organization may run at once. */
  runningCap: v.optional(number(1, 999_999), 50),
  /** The account's quota of Lambda functions that run at the same time in the region, 10 in a new account. */
  lambdaConcurrency: v.optional(number(10, 1_000_000), usualLambdaConcurrency),
  /** Batch size and concurrency of queues, instead of the defaults that are derived from `lambdaConcurrency`. */
  queues: v.optional(polling, {}),
  /** How many minutes an execution may wait for its first worker. */
  waitingLimitMinutes: v.optional(number(1, 1_440), 60),
  /** How many days logs are kept. */
  logRetentionDays: v.optional(
    v.pipe(number(1, 3653), v.picklist(retentions, `must be one of ${retentions.join(', ')}`)),
    30,
  ),
  /** How many requests a second the API takes in the long run, and at once. */
  throttleRate: v.optional(number(1, 10_000), 100),
  throttleBurst: v.optional(number(1, 5_000), 200),
  /**
   * The ARN of a restored table's stream: the stack runs on that table instead of its own, which is kept as it is. The
   * ARN names the table too.
   */
  restoredStream: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^arn:[\w-]+:dynamodb:[\w-]+:\d{12}:table\/[\w.-]+\/stream\/\S+$/, 'must be the ARN of a table’s stream'),
    ),
  ),
  /** Origins of web pages that may call the API; none by default. */
  corsOrigins: v.optional(
    v.pipe(
      v.string(),
      v.transform(words),
      v.array(
        v.pipe(v.string(), v.regex(/^(\*|https?:\/\/[^/\s]+)$/, 'must be * or origins such as https://board.example')),
      ),
    ),
  ),
  /** Who is told of alarms. */
  alarmEmail: v.optional(v.pipe(v.string(), v.email('must be an e-mail address'))),
  /** The ARN of an existing SNS topic that alarms publish to. Its policy must let CloudWatch publish (docs/deploying.md). */
  alarmTopicArn: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^arn:[\w-]+:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/, 'must be the ARN of a standard SNS topic'),
    ),
  ),
  /** A stack to throw away: it takes its data along. */
  ephemeral: v.optional(flag, false),
  /** For an emulator of AWS on this machine: leaves out what it refuses, and has what it alone asks for. Never for an account. */
  emulator: v.optional(flag, false),
});

/**
 * Reads the settings of a stack from its context.
 *
 * @throws Error that names every setting that cannot be meant, and what it should be
 */
export function readSettings(node: Pick<Node, 'tryGetContext'>): Settings {
  const names = Object.keys(schema.entries);
  const given = names
    .map((name) => [name, node.tryGetContext(name)] as const)
    .filter(([, value]) => value !== undefined);
  const read = v.safeParse(schema, Object.fromEntries(given), { abortPipeEarly: true });
  if (read.success) return read.output;
  const faults = read.issues.map(
    (issue) => `  ${v.getDotPath(issue)} ${issue.message}, not ${JSON.stringify(issue.input)}`,
  );
  throw new Error(`These settings cannot be used:\n${faults.join('\n')}`);
}

/** The name of the stack. A throw-away one has its own, so that the flag alone never takes the protection off a lasting one. */
export function stackNameOf({ stage, ephemeral }: Pick<Settings, 'stage' | 'ephemeral'>): string {
  return [ephemeral ? 'CrewboardEphemeral' : 'Crewboard', ...(stage ? [stage] : [])].join('-');
}

/** What the functions are told of the settings. */
export function variablesOf({
  defaultModel,
  modelRegion,
  retryLadder,
  runningCap,
  waitingLimitMinutes,
}: Settings): Record<string, string> {
  return {
    [environment.defaultModel]: defaultModel,
    [environment.retryLadder]: retryLadder,
    [environment.runningCap]: String(runningCap),
    [environment.waitingLimit]: String(waitingLimitMinutes),
    ...(modelRegion && { [environment.modelRegion]: modelRegion }),
  };
}
