import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { findLines, type LogLine } from '../../aws/deployed/log-query.ts';
import { type Resource, resourcesOf, standardStack } from '../../aws/deployed/stack.ts';
import { command, jsonOption } from '../command.ts';
import { printJson } from '../json.ts';

const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The fields that are the same in every line, and are not printed. */
const omittedFields = [
  'timestamp',
  'time',
  'level',
  'message',
  'service',
  'sampling_rate',
  'cold_start',
  'xray_trace_id',
];

/** `npm run crewboard -- trace`: prints the lines of all logs of a stack that contain an id. */
export const trace = command(
  'trace',
  'Print the lines of all logs of a stack that contain an id, oldest first; in AWS only',
  'npm run --silent crewboard -- trace tk_01K00000000000000000000000',
  'npm run --silent crewboard -- trace wh_01K00000000000000000000000 --since 7d --stack Crewboard-test',
)
  .description(
    'Print the lines of all logs of a stack that contain an id, oldest first. In AWS only: the service on this machine prints its log itself.',
  )
  .argument(
    '<id>',
    'the id of a request (X-Request-Id), a task, an execution, a webhook, a delivery, or any other id in the logs',
    readId,
  )
  .addOption(
    new Option('--since <time>', 'the time span to search, in minutes, hours or days: 30m, 3h, 7d')
      .argParser(readTime)
      .default(readTime('3h'), '3h'),
  )
  .option('--stack <name>', 'the stack in AWS', standardStack)
  .addOption(jsonOption())
  .action(async (id, { since, stack, json }) => {
    const to = Date.now();
    const resources = await resourcesOf(stack);
    const groups = namesOf(resources, 'AWS::Logs::LogGroup');
    const functions = namesOf(resources, 'AWS::Lambda::Function');
    const from = to - since.ms;
    const lines = await findLines(new CloudWatchLogsClient({}), [...groups.keys()], id, { from, to });
    const whereOf = ({ group, stream }: LogLine) => functions.get(functionIn(stream)) ?? groups.get(group) ?? group;
    if (json) return printJson({ data: lines.map((line) => jsonOf(line, whereOf(line))) });
    console.log(
      lines.length > 0
        ? lines.map((line) => shown(line, whereOf(line))).join('\n')
        : `No log line of the last ${since} contains ${id}. CloudWatch may be a minute late; search a longer time with --since.`,
    );
  });

function readId(given: string): string {
  // The id is put into a query between quotation marks. Ids of API Gateway end with an equals sign.
  if (!/^[\w.:=-]{6,200}$/.test(given)) throw new InvalidArgumentError('It is not a valid id.');
  return given;
}

/** A time span in milliseconds, and as the user typed it. */
type Time = { ms: number; toString: () => string };

function readTime(given: string): Time {
  const [, number, unit = ''] = /^([1-9]\d{0,3})([mhd])$/.exec(given) ?? [];
  if (!number) throw new InvalidArgumentError('It must be a time span such as 30m, 3h or 7d.');
  return { ms: Number(number) * (unitMs[unit] as number), toString: () => given };
}

/** Returns a readable name of each resource of a type, by its name in AWS: the name of the function, or `AccessLog`. */
function namesOf(resources: readonly Resource[], type: string): Map<string, string> {
  // The CDK makes the logical id of the part of the stack, the id of the construct, and eight digits of a hash.
  const nameOf = (id: string) => id.replace(/^(Api|Pipeline)/, '').replace(/[0-9A-F]{8}$/, '');
  return new Map(resources.filter((resource) => resource.type === type).map(({ id, name }) => [name, nameOf(id)]));
}

/**
 * Returns the name in AWS of the function that writes to a log stream, which is named `<date>/<function>[<version>]<id>`
 * (AWS Lambda Developer Guide, "Configuring CloudWatch log groups"). Functions with the same rights share a log group.
 */
function functionIn(stream: string): string {
  return /^\d{4}\/\d\d\/\d\d\/(.+?)\[/.exec(stream)?.[1] ?? '';
}

/** Returns a line as JSON: its fields, or its text if it is not in JSON. */
function jsonOf({ at, text }: LogLine, where: string) {
  return { at, where, line: fieldsOf(text) ?? text.trimEnd() };
}

function shown({ at, text }: LogLine, where: string): string {
  const fields = fieldsOf(text);
  if (!fields) return `${at}  ${where}  ${text.trimEnd()}`;
  const { level, message } = fields;
  const others = Object.entries(fields).filter(
    ([name]) => !omittedFields.includes(name) && !name.startsWith('function_'),
  );
  const more = others.length > 0 ? JSON.stringify(Object.fromEntries(others)) : undefined;
  return [at, where, level, message, more].filter((part) => part !== undefined).join('  ');
}

/** Returns the fields of a line in JSON, the format of the functions and of the access log. */
function fieldsOf(text: string): Record<string, unknown> | undefined {
  try {
    const fields: unknown = JSON.parse(text);
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
