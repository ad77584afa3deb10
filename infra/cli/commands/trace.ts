import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { command } from '../command.ts';
import { findLines, type LogLine } from '../stack/log-query.ts';
import { type Resource, resourcesOf, standardStack } from '../stack/stack.ts';

const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** What every line has, and tells nothing of the story. */
const noise = ['timestamp', 'time', 'level', 'message', 'service', 'sampling_rate', 'cold_start', 'xray_trace_id'];

/** `npm run trace`: the story of an id, from all logs of a stack, in order. */
export const trace = command(
  'trace',
  'Tell what all logs of a stack say of an id, in order; in AWS only',
  'npm run --silent trace -- tk_01K00000000000000000000000',
  'npm run --silent trace -- wh_01K00000000000000000000000 --since 7d --stack Crewboard-test',
)
  .description(
    'Tell what all logs of a stack say of an id, in order. In AWS only: the service on this machine prints its own log.',
  )
  .argument(
    '<id>',
    'of a request (X-Request-Id), a task, an execution, a webhook, a delivery, or whatever logs name',
    readId,
  )
  .addOption(
    new Option('--since <time>', 'how far back, in minutes, hours or days: 30m, 3h, 7d')
      .argParser(readTime)
      .default(readTime('3h'), '3h'),
  )
  .option('--stack <name>', 'the stack in AWS', standardStack)
  .action(async (id, { since, stack }) => {
    const to = Date.now();
    const resources = await resourcesOf(stack);
    const groups = namesOf(resources, 'AWS::Logs::LogGroup');
    const functions = namesOf(resources, 'AWS::Lambda::Function');
    const from = to - since.ms;
    const lines = await findLines(new CloudWatchLogsClient({}), [...groups.keys()], id, { from, to });
    const whereOf = ({ group, stream }: LogLine) => functions.get(functionIn(stream)) ?? groups.get(group) ?? group;
    console.log(
      lines.length > 0
        ? lines.map((line) => shown(line, whereOf(line))).join('\n')
        : `No line of the last ${since} names ${id}. CloudWatch may show a line a minute late; --since goes further back.`,
    );
  });

function readId(given: string): string {
  // It goes into a query between quotation marks; ids of API Gateway end with an equals sign.
  if (!/^[\w.:=-]{6,200}$/.test(given)) throw new InvalidArgumentError('It cannot be an id.');
  return given;
}

/** A time as it is typed, and in milliseconds. */
type Time = { ms: number; toString: () => string };

function readTime(given: string): Time {
  const [, number, unit = ''] = /^([1-9]\d{0,3})([mhd])$/.exec(given) ?? [];
  if (!number) throw new InvalidArgumentError('It must be as 30m, 3h or 7d.');
  return { ms: Number(number) * (unitMs[unit] as number), toString: () => given };
}

/** The resources of a type by their names in AWS, each with a name for people: a function's own, or `AccessLog`. */
function namesOf(resources: readonly Resource[], type: string): Map<string, string> {
  // The CDK's id: the part of the stack, the construct's name, and eight digits of a hash.
  const nameOf = (id: string) => id.replace(/^(Api|Pipeline)/, '').replace(/[0-9A-F]{8}$/, '');
  return new Map(resources.filter((resource) => resource.type === type).map(({ id, name }) => [name, nameOf(id)]));
}

/**
 * The name in AWS of the function that writes to a log stream: `<date>/<function>[<version>]<id>` (AWS Lambda Developer
 * Guide, "Configuring CloudWatch log groups"). Functions that have the same rights share a log group.
 */
function functionIn(stream: string): string {
  return /^\d{4}\/\d\d\/\d\d\/(.+?)\[/.exec(stream)?.[1] ?? '';
}

function shown({ at, text }: LogLine, where: string): string {
  const fields = fieldsOf(text);
  if (!fields) return `${at}  ${where}  ${text.trimEnd()}`;
  const { level, message } = fields;
  const told = Object.entries(fields).filter(([name]) => !noise.includes(name) && !name.startsWith('function_'));
  const more = told.length > 0 ? JSON.stringify(Object.fromEntries(told)) : undefined;
  return [at, where, level, message, more].filter((part) => part !== undefined).join('  ');
}

/** The fields of a line that is JSON, as those of the functions and of the access log are. */
function fieldsOf(text: string): Record<string, unknown> | undefined {
  try {
    const fields: unknown = JSON.parse(text);
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
