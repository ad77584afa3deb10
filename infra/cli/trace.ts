import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { Problem } from '../local/problem.ts';
import { readArguments, runCommand } from './command.ts';
import { findLines, type LogLine } from './log-query.ts';
import { type Resource, resourcesOf, standardStack } from './stack.ts';

const usage = `Usage, for the stack ${standardStack} or the one that --stack NAME names:
  npm run --silent trace -- ID [--since 3h]
ID: of a request (X-Request-Id), a task, an execution, a webhook, a delivery, or anything else that logs name.
--since goes back minutes, hours or days: 30m, 3h, 7d.`;

const options = {
  stack: { type: 'string', default: standardStack },
  since: { type: 'string', default: '3h' },
} as const;

const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** What every line has, and tells nothing of the story. */
const noise = ['timestamp', 'time', 'level', 'message', 'service', 'sampling_rate', 'cold_start', 'xray_trace_id'];

/** `npm run trace`: the story of an id, from all logs of a stack, in order. */
async function main(args: string[]): Promise<string> {
  const { positionals, values } = readArguments(args, options, usage);
  const [id, ...rest] = positionals;
  if (!id || rest.length > 0) throw new Problem(usage);
  // It goes into a query between quotation marks; ids of API Gateway end with an equals sign.
  if (!/^[\w.:=-]{6,200}$/.test(id)) throw new Problem(`${id} cannot be an id.\n${usage}`);
  const [, number, unit = ''] = /^([1-9]\d{0,3})([mhd])$/.exec(values.since) ?? [];
  if (!number) throw new Problem(`--since must be as 30m, 3h or 7d.`);
  const to = Date.now();
  const from = to - Number(number) * (unitMs[unit] as number);
  const groups = logGroupsOf(await resourcesOf(values.stack));
  const lines = await findLines(new CloudWatchLogsClient({}), [...groups.keys()], id, { from, to });
  if (lines.length === 0)
    return `No line of the last ${values.since} names ${id}. CloudWatch may show a line a minute late; --since goes further back.`;
  return lines.map((line) => shown(line, groups)).join('\n');
}

/** The log groups of a stack, each with a name for people: that of its function, or `AccessLog`. */
function logGroupsOf(resources: readonly Resource[]): Map<string, string> {
  const logs = resources.filter(({ type }) => type === 'AWS::Logs::LogGroup');
  // The CDK's id: the part of the stack, the function's name, `Log`, and eight digits of a hash.
  const nameOf = (id: string) =>
    id
      .replace(/^(Api|Pipeline)/, '')
      .replace(/[0-9A-F]{8}$/, '')
      .replace(/(?<!^Access)Log$/, '');
  return new Map(logs.map(({ id, name }) => [name, nameOf(id)]));
}

function shown({ at, group, text }: LogLine, groups: ReadonlyMap<string, string>): string {
  const where = groups.get(group) ?? group;
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

runCommand(main);
