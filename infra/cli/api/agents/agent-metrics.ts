import { Option } from '@commander-js/extra-typings';
import type { AgentMetrics, DailyMetrics, ExecutionMetrics } from '../../../../lib/client/operations.ts';
import { Period } from '../../../../lib/contract/agents/agent-metrics.ts';
import { AgentName, PromptHash } from '../../../../lib/contract/shapes.ts';
import { durationText } from '../../../texts.ts';
import { readBy } from '../../command.ts';
import { apiCommand } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { printList, type Shape } from '../pages.ts';

const grouped = (number: number) => number.toLocaleString('en');

const dayShape: Shape<DailyMetrics> = {
  columns: {
    date: ({ date }) => date,
    executions: ({ total }) => grouped(total),
    failed: ({ failed }) => grouped(failed),
    tokens: ({ tokens }) => grouped(tokens),
    median: ({ p50DurationMs }) => durationText(p50DurationMs),
    '95th percentile': ({ p95DurationMs }) => durationText(p95DurationMs),
  },
  flexible: '95th percentile',
};

/** `crewboard agents metrics`: the numbers of an agent, or of all executions. */
export const metrics = apiCommand(
  'metrics',
  'Show the numbers of the executions of an agent, or of all agents',
  'agents metrics builder --period 7d',
  'agents metrics --daily --json',
)
  .argument('[name]', 'the name of the agent; without it, all executions', readBy(AgentName))
  .addOption(
    new Option('--period <period>', 'the last UTC days, today included')
      .choices(Period.options)
      .default('30d' as const, '30d'),
  )
  .option('--prompt <hash>', 'only executions with this prompt of the agent', readBy(PromptHash))
  .option('--daily', 'also the numbers of each day')
  .action(async (name, { period, prompt, daily, ...options }, command) => {
    if (name === undefined && prompt !== undefined) command.error('error: --prompt needs the name of its agent.');
    const client = connect(options, command);
    const series = daily && ('daily' as const);
    const { data } =
      name === undefined
        ? await client.getExecutionMetrics({ query: { period } })
        : await client.getMetrics({ params: { name }, query: { period, prompt, series } });
    printDetail(data, rowsOf(data), options);
    if (!daily || options.json) return;
    console.log('');
    printList(data.series ?? [], 'day', dayShape, {});
  });

/** Returns metrics as labels and values. */
function rowsOf(metrics: AgentMetrics | ExecutionMetrics) {
  const { period, executions, performance, tokens } = metrics;
  return [
    ['agent', 'agentName' in metrics ? metrics.agentName : 'all'],
    ['period', period],
    ['executions', grouped(executions.total)],
    ['completed', grouped(executions.completed)],
    ['failed', grouped(executions.failed)],
    ['running', grouped(executions.running)],
    ['success rate', `${Math.round(executions.successRate * 1000) / 10} %`],
    ['average duration', durationText(performance.avgDurationMs)],
    ['median', durationText(performance.p50DurationMs)],
    ['95th percentile', durationText(performance.p95DurationMs)],
    ['tokens', grouped(tokens.total)],
    ['tokens each', grouped(tokens.avgPerExecution)],
    ['running limit', 'runningLimit' in metrics ? grouped(metrics.runningLimit) : undefined],
  ] as const;
}
