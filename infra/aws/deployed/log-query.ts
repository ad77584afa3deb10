import { setTimeout } from 'node:timers/promises';
import { type CloudWatchLogsClient, GetQueryResultsCommand, StartQueryCommand } from '@aws-sdk/client-cloudwatch-logs';
import { ascending } from '../../../lib/contract/texts/order.ts';
import { Problem } from '../../problem.ts';

/** A line of a log: its time (UTC), log group, log stream and text. */
export type LogLine = { at: string; group: string; stream: string; text: string };

/** The highest numbers of lines and of log groups of a query in CloudWatch. */
const linesLimit = 10_000;
const groupsLimit = 50;
const pauseMs = 500;

/** Returns the query of CloudWatch Logs Insights for the lines that contain an id. It also works in the AWS console. */
function queryFor(id: string): string {
  return `fields @timestamp, @log, @logStream, @message | filter @message like "${id}" | sort @timestamp asc | limit ${linesLimit}`;
}

/**
 * Finds the lines of log groups that contain an id, in chronological order.
 *
 * @throws `Problem` if CloudWatch ends the query without a result
 */
export async function findLines(
  client: CloudWatchLogsClient,
  groups: readonly string[],
  id: string,
  { from, to }: { from: number; to: number },
): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for (let at = 0; at < groups.length; at += groupsLimit) {
    const query = new StartQueryCommand({
      logGroupNames: groups.slice(at, at + groupsLimit),
      startTime: Math.floor(from / 1000),
      endTime: Math.ceil(to / 1000),
      queryString: queryFor(id),
    });
    lines.push(...(await resultsOf(client, (await client.send(query)).queryId)));
  }
  return lines.sort((a, b) => ascending(a.at, b.at));
}

async function resultsOf(client: CloudWatchLogsClient, queryId: string | undefined): Promise<LogLine[]> {
  for (;;) {
    const { status, results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
    if (status === 'Complete')
      return results.map((fields) => {
        const named = (name: string) => fields.find(({ field }) => field === name)?.value ?? '';
        // `@log` is the account and the group.
        const group = named('@log').replace(/^\d+:/, '');
        return { at: named('@timestamp'), group, stream: named('@logStream'), text: named('@message') };
      });
    if (status !== 'Running' && status !== 'Scheduled')
      throw new Problem(`CloudWatch ended the query with the status ${status}; try a shorter --since.`);
    await setTimeout(pauseMs);
  }
}
