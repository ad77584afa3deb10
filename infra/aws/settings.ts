import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { endpoints } from '../../lib/contract/endpoints.ts';
import { globalProfile, isAllowed, standardModelName, standardProfileIn } from '../../lib/contract/models.ts';
import type { Operation } from '../../lib/contract/routes.ts';
import { type ConsumerName, consumers } from '../../lib/deployment/consumers.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { highestLimit, standardLimits } from '../../lib/deployment/limits.ts';
import { batchSizeBounds, concurrencyBounds, usualLambdaConcurrency } from '../../lib/deployment/polling.ts';
import { workQueues } from '../../lib/deployment/queues.ts';
import { nearestName } from '../../lib/http/nearest-name.ts';
import { reservationFaults } from './reserved-concurrency.ts';

/** The settings of a stack: what its file sets, the defaults of everything else, and its stage. */
export type Settings = v.InferOutput<typeof schema> & {
  /** The name of the file, if that is not `default.json`. */
  stage?: string | undefined;
};

/** The folder of the settings files, from the root of the repository. */
const settingsFolder = 'settings';

/** The stage of a deploy that names none. Its stack has no suffix. */
export const standardStage = 'default';

const number = (least: number, most: number) =>
  v.pipe(
    v.number('must be a whole number'),
    v.integer('must be a whole number'),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  );

const flag = v.boolean('must be true or false');

const text = v.pipe(v.string('must be text'), v.minLength(1, 'must not be empty'));

/** Text of a form, which `what` describes. */
const textAs = (form: RegExp, what: string) => v.pipe(v.string(what), v.regex(form, what));

/** Names and values of tags, as AWS takes them. */
export type Tags = Readonly<Record<string, string>>;

/** Settings of one object. A name that is not among them is refused, with the name that was probably meant. */
function group<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject(entries, ({ expected, path }) => {
    if (expected === 'Object') return 'must be an object';
    if (expected !== 'never') return 'is missing';
    const meant = nearestName(String(path?.at(-1)?.key), Object.keys(entries));
    return `is not a setting${meant ? `; did you mean ${meant}?` : ''}`;
  });
}

/** The periods that CloudWatch Logs can keep a log for, in days. */
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const seconds = 'must be three numbers of seconds, as [300, 1800, 7200]';

const models = 'must be a list of ids of models';

const origins = 'must be a list of * or origins such as https://board.example';

/** The polling of each queue that is named. */
const polling = group(
  v.entriesFromList(
    workQueues,
    v.optional(
      group({
        batchSize: v.optional(number(batchSizeBounds.least, batchSizeBounds.most)),
        concurrency: v.optional(number(concurrencyBounds.least, concurrencyBounds.most)),
      }),
    ),
  ),
);

/** A function's name in the contract; `unmatched` answers what no route serves. */
type FunctionName = Operation | ConsumerName | 'unmatched';

const functionNames = [...Object.keys(endpoints), ...Object.keys(consumers), 'unmatched'] as FunctionName[];

/** The deployment configurations of AWS CodeDeploy that last long enough for an alarm of the API to be raised. */
const canaries = [
  'Canary10Percent15Minutes',
  'Canary10Percent30Minutes',
  'Linear10PercentEvery2Minutes',
  'Linear10PercentEvery3Minutes',
  'Linear10PercentEvery10Minutes',
] as const;

const customDomain = group({
  name: textAs(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'must be a domain name such as api.example.com'),
  /** The certificate of the name, in the stack's region. */
  certificateArn: textAs(
    /^arn:[\w-]+:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
    'must be the ARN of a certificate of ACM',
  ),
  /** Whether the API stops answering under the URL that API Gateway gives it. */
  disableExecuteApiEndpoint: v.optional(flag, false),
});

const openTelemetry = group({
  layer: textAs(/^arn:[\w-]+:lambda:[\w-]+:\d{12}:layer:[\w-]+:\d+$/, 'must be the ARN of a version of a Lambda layer'),
  /** The script of the layer that starts a function. */
  wrapper: v.optional(textAs(/^\/opt\/[\w./-]+$/, 'must be a path below /opt'), '/opt/otel-instrument'),
  /** Further variables of the functions. */
  variables: v.optional(
    v.record(textAs(/^OTEL_\w+$/, 'must have names such as OTEL_TRACES_SAMPLER'), text, 'must be an object'),
    {},
  ),
});

const schema = group({
  /** The model of agents that name none: a model id or an inference profile. Without one the region decides. */
  defaultModel: v.optional(text),
  /** The models that agents may name; without a list they may name every model. */
  allowedModels: v.optional(v.pipe(v.array(textAs(/^[^\s,]{1,256}$/, models), models), v.minLength(1, models))),
  /** The region where models are called, if it is not the stack's own. */
  modelRegion: v.optional(textAs(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as eu-central-1')),
  /** The seconds from each failed attempt of a delivery to the next attempt. */
  retryLadder: v.optional(v.pipe(v.array(number(0, 604_800), seconds), v.length(3, seconds)), [300, 1_800, 7_200]),
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
  /** The same for each route that calls out to others, and so may take 10 to 29 seconds. */
  callsOutThrottleRate: v.optional(number(1, 10_000), 5),
  callsOutThrottleBurst: v.optional(number(1, 5_000), 10),
  /** The same for each route that starts an execution. */
  executionThrottleRate: v.optional(number(1, 10_000), 20),
  executionThrottleBurst: v.optional(number(1, 5_000), 40),
  /** How many requests an organization may make in a minute, and how many executions it may start, if it has no limits of its own. */
  requestsPerMinute: v.optional(number(1, highestLimit), standardLimits.requestsPerMinute),
  executionsPerMinute: v.optional(number(1, highestLimit), standardLimits.executionsPerMinute),
  /**
   * The ARN of the stream of an existing table: the stack runs on that table instead of its own, which it keeps. The
   * ARN names the table too.
   */
  restoredStream: v.optional(
    textAs(/^arn:[\w-]+:dynamodb:[\w-]+:\d{12}:table\/[\w.-]+\/stream\/\S+$/, 'must be the ARN of a table’s stream'),
  ),
  /**
   * The ARN of an existing key for the secrets of webhooks: the stack uses it and creates none. Its key policy has to let
   * the account's IAM policies decide.
   */
  secretsKey: v.optional(
    textAs(/^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+$/, 'must be the ARN of a key, not of an alias'),
  ),
  /** The name of the deployed table that another one replaces: confirms that change. */
  replacedTable: v.optional(text),
  /** The ARN of the deployed key that another one replaces: confirms that change. */
  replacedKey: v.optional(text),
  /** Tags of all resources, besides `service` and `stage`. */
  tags: v.optional(
    v.record(
      v.pipe(
        v.string(),
        v.maxLength(128, 'must have at most 128 characters'),
        v.regex(/^(?!aws:)./i, 'must not begin with aws:'),
      ),
      v.pipe(v.string('must be text'), v.maxLength(256, 'must have at most 256 characters')),
      'must be an object of names and values',
    ),
  ),
  /** Origins of web pages that may call the API; none by default. */
  corsOrigins: v.optional(
    v.pipe(v.array(textAs(/^(\*|https?:\/\/[^/\s]+)$/, origins), origins), v.minLength(1, origins)),
  ),
  /** Who is told of alarms. */
  alarmEmail: v.optional(v.pipe(v.string('must be an e-mail address'), v.email('must be an e-mail address'))),
  /** The ARN of an existing SNS topic that alarms publish to. Its policy must let CloudWatch publish (docs/deploying.md). */
  alarmTopicArn: v.optional(
    textAs(/^arn:[\w-]+:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/, 'must be the ARN of a standard SNS topic'),
  ),
  /** A domain name of the team for the API. */
  customDomain: v.optional(customDomain),
  /** How CodeDeploy moves the traffic of the API's functions to a new version. Without it a deploy moves all at once. */
  canary: v.optional(v.picklist(canaries, `must be one of ${canaries.join(', ')}`)),
  /** The concurrency that Lambda reserves for functions, by their names. A function gets no more than its reservation. */
  reservedConcurrency: v.optional(group(v.entriesFromList(functionNames, v.optional(number(1, 1_000_000)))), {}),
  /** The OpenTelemetry layer that traces the functions. */
  openTelemetry: v.optional(openTelemetry),
  /** Whether the stack is for a trial: its data is deleted with it. */
  ephemeral: v.optional(flag, false),
  /** Whether the stack is for an emulator of AWS on this machine, never for an account: leaves out what it refuses. */
  emulator: v.optional(flag, false),
});

/** The names of all settings of the outermost object. */
export const settingNames = Object.keys(schema.entries);

/** Returns the path of the settings file of a stage. */
export function settingsFileOf(stage = standardStage, folder = settingsFolder): string {
  return join(folder, `${stage}.json`);
}

/**
 * Reads the settings file of a stage.
 *
 * @param stage the name of the file without `.json`; without a stage `default.json` is read
 * @throws Error that says what is wrong with the stage or the file, and what to write instead
 */
export function readSettings(stage = standardStage, folder = settingsFolder): Settings {
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(stage))
    throw new Error(`The stage ${JSON.stringify(stage)} must be lower-case letters, digits and hyphens.`);
  const file = settingsFileOf(stage, folder);
  return parseSettings(readJson(file, folder), file, stage === standardStage ? undefined : stage);
}

function readJson(file: string, folder: string): unknown {
  let source: string;
  try {
    source = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`There is no ${file}. The stages in ${folder} are: ${stagesIn(folder).join(', ')}.`, { cause });
  }
  try {
    return JSON.parse(source);
  } catch (cause) {
    throw new Error(`${file} is not JSON: ${(cause as Error).message}`, { cause });
  }
}

function stagesIn(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.map((name) => name.slice(0, -'.json'.length)).sort();
}

/**
 * Returns the settings that the content of a settings file gives a stack.
 *
 * @param given the parsed JSON
 * @param file where it is from, for messages
 * @throws Error that lists all settings that cannot be used, and what each should be
 */
export function parseSettings(given: unknown, file: string, stage?: string): Settings {
  const read = v.safeParse(schema, given, { abortPipeEarly: true });
  if (!read.success) throw new Error(`${file} cannot be used:\n${read.issues.map(faultOf).join('\n')}`);
  const settings = read.output;
  const faults = reservationFaults(settings);
  if (faults.length > 0) throw new Error(`${file} cannot be used:\n  ${faults.join('\n  ')}`);
  return { ...settings, ...(stage && { stage }) };
}

function faultOf(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue) ?? 'The file';
  return `  ${path} ${issue.message}${issue.expected === 'never' ? '' : `, not ${JSON.stringify(issue.input)}`}`;
}

/**
 * Returns the name of the stack. An ephemeral stack has a name of its own, so that the flag alone never removes the
 * protection of a lasting one.
 */
export function stackNameOf({ stage, ephemeral }: Pick<Settings, 'stage' | 'ephemeral'>): string {
  return [ephemeral ? 'CrewboardEphemeral' : 'Crewboard', ...(stage ? [stage] : [])].join('-');
}

/** The settings of a stack with the model of agents that name none. */
export type StackSettings = Settings & { defaultModel: string };

/**
 * Returns the settings with a default model: that of the settings, or the inference profile that keeps prompts within
 * the geography of the region where models are called.
 *
 * @param region the region that the stack is deployed to, as far as it is known
 * @throws Error where the region has no such profile, or the default model is not among the allowed ones
 */
export function withDefaultModel(settings: Settings, region: string | undefined): StackSettings {
  const { defaultModel = standardModelOf(settings.modelRegion ?? region), allowedModels } = settings;
  if (!isAllowed(defaultModel, allowedModels))
    throw new Error(
      `The default model ${defaultModel} is not in allowedModels; set defaultModel to one of ${allowedModels?.join(', ')}.`,
    );
  return { ...settings, defaultModel };
}

function standardModelOf(region: string | undefined): string {
  if (region === undefined) throw new Error('The default model depends on the region; set AWS_REGION or defaultModel.');
  const profile = standardProfileIn(region);
  if (profile) return profile;
  throw new Error(
    `${standardModelName} has no inference profile that keeps prompts near ${region}. Set defaultModel to ${globalProfile} if prompts may be processed in any region of AWS, or to another model; or set modelRegion to a region of the United States, Canada or Europe.`,
  );
}

/** Returns the environment variables that the settings give every function. */
export function variablesOf({
  defaultModel,
  allowedModels,
  modelRegion,
  retryLadder,
  runningCap,
  waitingLimitMinutes,
  requestsPerMinute,
  executionsPerMinute,
}: StackSettings): Record<string, string> {
  return {
    [environment.defaultModel]: defaultModel,
    [environment.retryLadder]: retryLadder.join(','),
    [environment.runningCap]: String(runningCap),
    [environment.waitingLimit]: String(waitingLimitMinutes),
    [environment.requestsPerMinute]: String(requestsPerMinute),
    [environment.executionsPerMinute]: String(executionsPerMinute),
    ...(allowedModels && { [environment.allowedModels]: allowedModels.join(',') }),
    ...(modelRegion && { [environment.modelRegion]: modelRegion }),
  };
}
