import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { globalProfile, isAllowed, standardModelName, standardProfileIn } from '../../lib/contract/agents/models.ts';
import { nearestName } from '../../lib/contract/requests/nearest-name.ts';
import { type Operation, routes } from '../../lib/contract/routes.ts';
import { type ConsumerName, consumers } from '../../lib/names/consumers.ts';
import { environment } from '../../lib/names/environment.ts';
import { workQueues } from '../../lib/names/queues.ts';
import { isOriginPattern } from '../../lib/settings/cors.ts';
import { standardLimits } from '../../lib/settings/limits.ts';
import { type NumberSettingName, numberSettings, retryWaits } from '../../lib/settings/number-settings.ts';
import {
  batchSizeBounds,
  concurrencyBounds,
  pollingOf,
  slowAttemptsOf,
  usualLambdaConcurrency,
} from '../../lib/settings/polling.ts';
import { reservationFaults } from './reserved-concurrency.ts';

/** The settings of a stack: the settings in its file, the defaults of all others, and its stage. */
export type DeploySettings = v.InferOutput<typeof schema> & {
  /** The name of the file without `.json`, if it is not `default.json`. */
  stage?: string | undefined;
};

/** The folder of the settings files, relative to the repository's root. */
const settingsFolder = 'settings';

/** The stage of a deploy without a stage. Its stack has no suffix. */
export const standardStage = 'default';

const number = (least: number, most: number) =>
  v.pipe(
    v.number('must be a whole number'),
    v.integer('must be a whole number'),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  );

/** Returns the schema of a setting of functions, with the bounds by which functions read it. */
const numberOf = (name: NumberSettingName) => number(1, numberSettings[name].most);

const flag = v.boolean('must be true or false');

const text = v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty'));

/** Returns a schema of strings that match a pattern; `message` describes it. */
const textAs = (pattern: RegExp, message: string) => v.pipe(v.string(message), v.regex(pattern, message));

/** Names and values of AWS tags. */
export type Tags = Readonly<Record<string, string>>;

/**
 * Returns a schema of an object of settings. The error for an unknown name suggests a similar one.
 *
 * @param instead names that are no settings, or not any more, each with what to do instead
 */
function group<const Entries extends v.ObjectEntries>(
  entries: Entries,
  instead: Readonly<Record<string, string | undefined>> = {},
) {
  return v.strictObject(entries, ({ expected, path }) => {
    if (expected === 'Object') return 'must be an object';
    if (expected !== 'never') return 'is missing';
    const name = String(path?.at(-1)?.key);
    if (Object.hasOwn(instead, name)) return `is not a setting; ${instead[name]}`;
    const meant = nearestName(name, Object.keys(entries));
    return `is not a setting${meant ? `; did you mean ${meant}?` : ''}`;
  });
}

/** The retention periods of CloudWatch Logs, in days. */
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const seconds = 'must be three numbers of seconds, such as [300, 1800, 7200]';

const models = 'must be "default", "every" or a list of model ids';

/** Returns the schema of a model id that can be in a list that is separated by commas. */
const model = (message: string) => textAs(/^[^\s,]{1,256}$/, message);

const origins =
  'must be a list of *, https://* or origins such as https://board.example, in lower case and without a path';

/** The polling of queues, by name. */
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

/** The name of a function in the contract. The function `unmatched` answers requests that match no route. */
type FunctionName = Operation | ConsumerName | 'unmatched';

const functionNames = [
  ...routes.flatMap(([operation, { servedBy }]) => (servedBy ? [] : [operation])),
  ...Object.keys(consumers),
  'unmatched',
] as FunctionName[];

/** The operations that share the function of another one. */
const served = routes.flatMap(([operation, { servedBy }]) =>
  servedBy ? [[operation, `it shares the function of ${servedBy}, which can be one`]] : [],
);

/** The reserved concurrency of functions, by name. */
const reservedConcurrency = group(
  v.entriesFromList(functionNames, v.optional(number(1, 1_000_000))),
  Object.fromEntries(served),
);

/** Settings of earlier versions, each with what to do instead. */
const removed = {
  canary: 'remove it: requests reach new versions only after all are published (docs/deploying.md#new-versions)',
};

const customDomain = group({
  name: textAs(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'must be a domain name such as api.example.com'),
  /** The certificate of the domain name, in the stack's region. */
  certificateArn: textAs(/^arn:[\w-]+:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/, 'must be the ARN of an ACM certificate'),
  /** Whether to disable the URL that API Gateway gives the API. */
  disableExecuteApiEndpoint: v.optional(flag, false),
});

const openTelemetry = group({
  layer: textAs(/^arn:[\w-]+:lambda:[\w-]+:\d{12}:layer:[\w-]+:\d+$/, 'must be the ARN of a version of a Lambda layer'),
  /** The wrapper script of the layer. */
  wrapper: v.optional(textAs(/^\/opt\/[\w./-]+$/, 'must be a path below /opt'), '/opt/otel-instrument'),
  /** More environment variables of the functions. */
  variables: v.optional(
    v.record(textAs(/^OTEL_\w+$/, 'must have names such as OTEL_TRACES_SAMPLER'), text, 'must be an object'),
    {},
  ),
});

/** The characters that IAM accepts in names and values of tags. The roles of the stack have its tags. */
const tagCharacters = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

const tagText = (most: number) =>
  v.pipe(
    v.string('must be a string'),
    v.maxLength(most, `must have at most ${most} characters`),
    v.regex(tagCharacters, 'must have only letters, digits, spaces and _ . : / = + - @, the characters of IAM'),
    v.regex(/^(?!aws:)/i, 'must not begin with aws:'),
  );

/** The maximum number of tags of a resource, and the tags that every stack has. */
const mostTags = 50;
const ownTags = ['service', 'stage'];

/** Returns whether two names differ by case only, which IAM rejects, or a name differs so from a tag that every stack has. */
function haveEqualNames(given: Tags): boolean {
  const names = [...new Set([...ownTags, ...Object.keys(given)])];
  return new Set(names.map((name) => name.toLowerCase())).size < names.length;
}

const tags = v.pipe(
  v.record(
    v.pipe(tagText(128), v.minLength(1, 'must not be empty')),
    tagText(256),
    'must be an object of names and values',
  ),
  v.check(
    (given) => new Set([...ownTags, ...Object.keys(given)]).size <= mostTags,
    `must be at most ${mostTags - ownTags.length}: a resource has at most ${mostTags} tags, with ${ownTags.join(' and ')}`,
  ),
  v.check(
    (given) => !haveEqualNames(given),
    'must not have names that differ by case only, also from service and stage',
  ),
);

/** The most units a second that can be set for the table. */
const mostUnits = 10_000_000;

/** The lowest values are the throughput that a table billed on demand has anyway (DynamoDB Developer Guide, "Warm throughput"). */
const warmThroughput = group({
  readUnitsPerSecond: v.optional(number(12_000, mostUnits)),
  writeUnitsPerSecond: v.optional(number(4_000, mostUnits)),
});

const entries = {
  /** The default model of agents: a model id or an inference profile. Without it the region determines the model. */
  defaultModel: v.optional(model('must be a model id without spaces and commas')),
  /**
   * The models that agents may name: `default` stands for the default model only, `every` for all models. Without it, the
   * deployed stack decides (`withAllowedModels`).
   */
  allowedModels: v.optional(
    v.union(
      [v.picklist(['default', 'every'], models), v.pipe(v.array(model(models), models), v.minLength(1, models))],
      models,
    ),
  ),
  /** The region where models are called, if it is not the stack's. */
  modelRegion: v.optional(textAs(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as eu-central-1')),
  /** The seconds from each failed attempt of a delivery to the next attempt. */
  retryLadder: v.optional(
    v.pipe(v.array(number(1, retryWaits.most), seconds), v.length(retryWaits.count, seconds)),
    [300, 1_800, 7_200],
  ),
  /** How many days the bodies of delivery attempts and their responses are kept. */
  responseDays: v.optional(numberOf('responseDays'), numberSettings.responseDays.standard),
  /** For how many days all deliveries to a webhook must fail before it is paused. */
  failingDays: v.optional(numberOf('failingDays'), numberSettings.failingDays.standard),
  /** How many executions of an organization may run at once. */
  runningCap: v.optional(numberOf('runningCap'), numberSettings.runningCap.standard),
  /** The account's quota of concurrent Lambda functions in the region; a new account has 10. */
  lambdaConcurrency: v.optional(number(10, 1_000_000), usualLambdaConcurrency),
  /** The batch size and the concurrency of queues. The defaults are derived from `lambdaConcurrency`. */
  queues: v.optional(polling, {}),
  /** How many minutes an execution may wait for its first worker. */
  waitingLimitMinutes: v.optional(numberOf('waitingLimitMinutes'), numberSettings.waitingLimitMinutes.standard),
  /** The limits of one execution: its steps, the tokens of its steps, and its duration. */
  executionSteps: v.optional(numberOf('executionSteps'), numberSettings.executionSteps.standard),
  executionTokens: v.optional(numberOf('executionTokens'), numberSettings.executionTokens.standard),
  executionMinutes: v.optional(numberOf('executionMinutes'), numberSettings.executionMinutes.standard),
  /** How many days logs are kept. */
  logRetentionDays: v.optional(
    v.pipe(number(1, 3653), v.picklist(retentions, `must be one of ${retentions.join(', ')}`)),
    30,
  ),
  /** The throttle of the API: requests a second, and requests in a burst. */
  throttleRate: v.optional(number(1, 10_000), 100),
  throttleBurst: v.optional(number(1, 5_000), 200),
  /** The throttle of each route that calls receivers or models, for all organizations; `callsOutPerMinute` limits each. */
  callsOutThrottleRate: v.optional(number(1, 10_000), 50),
  callsOutThrottleBurst: v.optional(number(1, 5_000), 100),
  /** The throttle of each route that starts an execution. */
  executionThrottleRate: v.optional(number(1, 10_000), 20),
  executionThrottleBurst: v.optional(number(1, 5_000), 40),
  /** The limits of requests and of new executions in a minute, for an organization without its own limits. */
  requestsPerMinute: v.optional(numberOf('requestsPerMinute'), standardLimits.requestsPerMinute),
  executionsPerMinute: v.optional(numberOf('executionsPerMinute'), standardLimits.executionsPerMinute),
  /** The limit of requests of an organization in a minute that call receivers or models. */
  callsOutPerMinute: v.optional(numberOf('callsOutPerMinute'), standardLimits.callsOutPerMinute),
  /** The budget of tokens of executions and self-improvement in a UTC day, for an organization without its own. Unlimited by default. */
  dailyTokens: v.optional(numberOf('dailyTokens')),
  /**
   * The ARN of the stream of an existing table, which contains the name of the table. The stack uses that table, and keeps
   * its own.
   */
  restoredStream: v.optional(
    textAs(/^arn:[\w-]+:dynamodb:[\w-]+:\d{12}:table\/[\w.-]+\/stream\/\S+$/, 'must be the ARN of a table’s stream'),
  ),
  /** The units a second that the table can serve at once, without growing first. */
  warmThroughput: v.optional(warmThroughput),
  /** The most write units a second of the table; DynamoDB throttles more. */
  maxWriteRequestUnits: v.optional(number(10, mostUnits)),
  /**
   * The ARN of an existing key for the secrets of webhooks. The stack uses it and creates none. Its key policy must delegate
   * to the IAM policies of the account.
   */
  secretsKey: v.optional(
    textAs(/^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+$/, 'must be the ARN of a key, not of an alias'),
  ),
  /** Confirms that a deploy replaces the deployed table of this name. */
  replacedTable: v.optional(text),
  /** Confirms that a deploy replaces the deployed key with this ARN. */
  replacedKey: v.optional(text),
  /** The name of the managed policy that limits the rights of all roles of the stack (docs/rights/boundary.json). */
  permissionsBoundary: v.optional(
    textAs(/^[\w+=,.@-]{1,128}$/, 'must be the name of a managed policy of the account, such as CrewboardBoundary'),
  ),
  /** Tags of all resources, besides `service` and `stage`. */
  tags: v.optional(tags),
  /** The origins of web pages that may call the API; none by default. */
  corsOrigins: v.optional(
    v.pipe(v.array(v.pipe(v.string(origins), v.check(isOriginPattern, origins)), origins), v.minLength(1, origins)),
  ),
  /** The email address for alarms. */
  alarmEmail: v.optional(v.pipe(v.string('must be an email address'), v.email('must be an email address'))),
  /** The number of tokens of a model in an hour above which an alarm is raised. */
  alarmTokensPerHour: v.optional(number(1, 1_000_000_000_000), 2_000_000),
  /** The ARN of an existing SNS topic for alarms. Its policy must let CloudWatch publish (docs/deploying.md). */
  alarmTopicArn: v.optional(
    textAs(/^arn:[\w-]+:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/, 'must be the ARN of a standard SNS topic'),
  ),
  /** A custom domain name for the API. */
  customDomain: v.optional(customDomain),
  /** The reserved concurrency of functions, by name. A function cannot exceed its reservation. */
  reservedConcurrency: v.optional(reservedConcurrency, {}),
  /** The OpenTelemetry layer that traces the functions. */
  openTelemetry: v.optional(openTelemetry),
  /** Whether the stack is a trial, whose data is deleted with it. */
  ephemeral: v.optional(flag, false),
  /** Whether the stack is for an emulator of AWS on this machine. It then lacks resources that the emulator rejects. */
  emulator: v.optional(flag, false),
};

const schema = group(entries, removed);

/** The names of all settings of the outermost object, each with its schema. */
export const settingSchemas: Readonly<Record<string, v.GenericSchema>> = schema.entries;
export const settingNames = Object.keys(settingSchemas);

/** Returns the path of the settings file of a stage. */
export function settingsFileOf(stage = standardStage, folder = settingsFolder): string {
  return join(folder, `${stage}.json`);
}

/**
 * Reads the settings file of a stage.
 *
 * @param stage the name of the file without `.json`; the default is `default`
 * @throws Error if the stage or the file is invalid
 */
export function readStackSettings(stage = standardStage, folder = settingsFolder): DeploySettings {
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(stage))
    throw new Error(`The stage ${JSON.stringify(stage)} is invalid; use lower-case letters, digits and hyphens.`);
  const file = settingsFileOf(stage, folder);
  return parseSettings(readJson(file, folder), file, stage === standardStage ? undefined : stage);
}

function readJson(file: string, folder: string): unknown {
  let source: string;
  try {
    source = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`${file} does not exist. The stages in ${folder} are: ${stagesIn(folder).join(', ')}.`, { cause });
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
 * Returns the settings of a stack for the content of a settings file.
 *
 * @param given the parsed JSON
 * @param file the path of the file, for messages
 * @throws Error that lists all invalid settings with their errors
 */
export function parseSettings(given: unknown, file: string, stage?: string): DeploySettings {
  const read = v.safeParse(schema, given, { abortPipeEarly: true });
  if (!read.success) throw new Error(`${file} is invalid:\n${read.issues.map(faultOf).join('\n')}`);
  const settings = read.output;
  const faults = [...reservationFaults(settings), ...environmentFaults(settings), ...throughputFaults(settings)];
  if (faults.length > 0) throw new Error(`${file} is invalid:\n  ${faults.join('\n  ')}`);
  return { ...settings, ...(stage && { stage }) };
}

/**
 * The maximum size of the environment variables that come from settings, in bytes. Lambda accepts 4 KB for a function. The
 * remainder is for the variables that each stack has: names of the stack and the table, URLs of queues, and the key.
 */
const mostEnvironmentBytes = 2_496;

/** Returns the error of settings whose texts do not fit into the environment variables of a function. */
function environmentFaults(settings: DeploySettings): string[] {
  const { defaultModel = '', openTelemetry: { wrapper = '', variables = {} } = {} } = settings;
  const resolved = withModels(settings, defaultModel);
  const texts = Object.entries({ ...variablesOf(resolved), wrapper, ...variables }).flat();
  const bytes = Buffer.byteLength(texts.join(''));
  if (bytes <= mostEnvironmentBytes) return [];
  return [
    `allowedModels, corsOrigins and openTelemetry.variables must be shorter by ${bytes - mostEnvironmentBytes} bytes in all: Lambda accepts 4 KB of environment variables for a function`,
  ];
}

/** Returns the errors in the throughput of the table: it is of the table of the stack, and cannot be above its own maximum. */
function throughputFaults({
  restoredStream,
  warmThroughput: warm,
  maxWriteRequestUnits: most,
}: DeploySettings): string[] {
  const { writeUnitsPerSecond = 0 } = warm ?? {};
  return [
    ...(restoredStream !== undefined && (warm !== undefined || most !== undefined)
      ? [
          'warmThroughput and maxWriteRequestUnits are for the own table of the stack; set those of the restored table by the AWS CLI',
        ]
      : []),
    ...(most !== undefined && writeUnitsPerSecond > most
      ? [
          `warmThroughput.writeUnitsPerSecond must be at most maxWriteRequestUnits (${most}), not ${writeUnitsPerSecond}`,
        ]
      : []),
  ];
}

function faultOf(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue) ?? 'The file';
  return `  ${path} ${issue.message}${issue.expected === 'never' ? '' : `, not ${JSON.stringify(issue.input)}`}`;
}

/**
 * Returns the name of the stack. An ephemeral stack has another name, so that setting the flag cannot remove the protection
 * of a permanent stack.
 */
export function stackNameOf({ stage, ephemeral }: Pick<DeploySettings, 'stage' | 'ephemeral'>): string {
  return [ephemeral ? 'CrewboardEphemeral' : 'Crewboard', ...(stage ? [stage] : [])].join('-');
}

/** The settings of a stack with the default model of agents, and the list of the allowed models if not every model is. */
export type StackSettings = Omit<DeploySettings, 'allowedModels'> & {
  defaultModel: string;
  allowedModels?: string[] | undefined;
};

/**
 * Returns the settings with a default model: the model in the settings, or the inference profile for the geography of the region
 * where models are called.
 *
 * @param region the region of the stack, if it is known
 * @throws Error if the region has no such profile, or the default model is not allowed
 */
export function withDefaultModel(settings: DeploySettings, region: string | undefined): StackSettings {
  const { defaultModel = standardModelOf(settings.modelRegion ?? region) } = settings;
  const resolved = withModels(settings, defaultModel);
  const { allowedModels } = resolved;
  if (!isAllowed(defaultModel, allowedModels))
    throw new Error(
      `The default model ${defaultModel} is not in allowedModels; set defaultModel to one of ${allowedModels?.join(', ')}.`,
    );
  return resolved;
}

function withModels({ allowedModels, ...settings }: DeploySettings, defaultModel: string): StackSettings {
  if (allowedModels === undefined || allowedModels === 'every') return { ...settings, defaultModel };
  return { ...settings, defaultModel, allowedModels: allowedModels === 'default' ? [defaultModel] : allowedModels };
}

function standardModelOf(region: string | undefined): string {
  if (region === undefined) throw new Error('The default model depends on the region; set AWS_REGION or defaultModel.');
  const profile = standardProfileIn(region);
  if (profile) return profile;
  throw new Error(
    `${standardModelName} has no inference profile for the geography of ${region}. Set defaultModel to ${globalProfile} if prompts may be processed in any region of AWS, or to another model; or set modelRegion to a region of the United States, Canada or Europe.`,
  );
}

/** Returns the environment variables of functions for the settings. A function gets the variables that it reads. */
export function variablesOf({
  defaultModel,
  allowedModels,
  corsOrigins,
  modelRegion,
  retryLadder,
  responseDays,
  failingDays,
  runningCap,
  waitingLimitMinutes,
  executionSteps,
  executionTokens,
  executionMinutes,
  requestsPerMinute,
  executionsPerMinute,
  callsOutPerMinute,
  dailyTokens,
  lambdaConcurrency,
  queues,
}: StackSettings): Record<string, string> {
  return {
    [environment.defaultModel]: defaultModel,
    [environment.retryLadder]: retryLadder.join(','),
    [environment.responseDays]: String(responseDays),
    [environment.failingDays]: String(failingDays),
    [environment.slowAttempts]: String(slowAttemptsOf(pollingOf(lambdaConcurrency, queues))),
    [environment.runningCap]: String(runningCap),
    [environment.waitingLimit]: String(waitingLimitMinutes),
    [environment.executionSteps]: String(executionSteps),
    [environment.executionTokens]: String(executionTokens),
    [environment.executionMinutes]: String(executionMinutes),
    [environment.requestsPerMinute]: String(requestsPerMinute),
    [environment.executionsPerMinute]: String(executionsPerMinute),
    [environment.callsOutPerMinute]: String(callsOutPerMinute),
    ...(dailyTokens !== undefined && { [environment.dailyTokens]: String(dailyTokens) }),
    ...(allowedModels && { [environment.allowedModels]: allowedModels.join(',') }),
    ...(corsOrigins && { [environment.corsOrigins]: corsOrigins.join(',') }),
    ...(modelRegion && { [environment.modelRegion]: modelRegion }),
  };
}
