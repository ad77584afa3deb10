import { everyItem } from '../../../../lib/client/client.ts';
import type { ImprovementPass } from '../../../../lib/client/operations.ts';
import { AgentName } from '../../../../lib/contract/shapes.ts';
import { readBy, wholeNumber } from '../../command.ts';
import { allOption, apiCommand, limitOption } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { printPage, requestPage, type Shape } from '../pages.ts';

/** The largest number of executions that a pass reviews. */
const mostReviewed = 100;

/** `crewboard agents improve`: lets an agent improve its system prompt. */
export const improve = apiCommand(
  'improve',
  'Review executions of an agent, and improve its system prompt if a better one is found',
  'agents improve builder',
  'agents improve builder --lookback 50 --focus "answers that are too long"',
)
  .description(
    [
      'Review executions of an agent, and improve its system prompt if a better one is found. It takes up to 30 seconds and',
      'calls the model.',
    ].join(' '),
  )
  .argument('<name>', 'the name of the agent', readBy(AgentName))
  .option(
    '--lookback <number>',
    `the number of executions to review, newest first, 1 to ${mostReviewed} (default: 20)`,
    wholeNumber(mostReviewed),
  )
  .option('--focus <text>', 'what the review focuses on')
  .action(async (name, { lookback: lookbackExecutions, focus: focusArea, ...options }, command) => {
    const body = { lookbackExecutions, focusArea };
    const { data } = await connect(options, command).selfImproveAgent({ params: { name }, body });
    const rows = [
      ['improved', data.improved ? 'yes' : 'no'],
      ['changes', data.changesSummary],
      ['previous prompt', data.previousPromptHash],
      ['new prompt', data.newPromptHash],
    ] as const;
    printDetail(data, rows, options);
  });

const improvementShape: Shape<ImprovementPass> = {
  columns: {
    started: ({ startedAt }) => startedAt,
    decision: ({ decision }) => decision,
    votes: ({ votes }) => `${votes.new} new, ${votes.previous} previous`,
    tokens: ({ tokensUsed }) => tokensUsed.toLocaleString('en'),
    changes: ({ changesSummary }) => changesSummary,
  },
  flexible: 'changes',
};

/** `crewboard agents improvements`: lists the passes of self-improvement. */
export const improvements = apiCommand(
  'improvements',
  'List the self-improvement passes of an agent, newest first',
  'agents improvements builder',
  'agents improvements builder --all --json',
)
  .argument('<name>', 'the name of the agent', readBy(AgentName))
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (name, options, command) => {
    const client = connect(options, command);
    const page = await requestPage(
      options,
      (limit) => client.listImprovements({ params: { name }, query: { limit } }),
      () => everyItem(client.listImprovements, { params: { name } }),
    );
    printPage(page, 'pass', improvementShape, options);
  });
