import { Option } from '@commander-js/extra-typings';
import { type Client, everyItem } from '../../../../lib/client/client.ts';
import type { ExecutionListItem, Operations } from '../../../../lib/client/operations.ts';
import { ExecutionId, ExecutionStatus } from '../../../../lib/contract/executions/executions.ts';
import { timeOf, ulidOf } from '../../../../lib/contract/ids.ts';
import { AgentName } from '../../../../lib/contract/shapes.ts';
import { durationText, executionStateText, tokensText } from '../../../texts.ts';
import { readBy } from '../../command.ts';
import { printJson } from '../../json.ts';
import { CommandFailure } from '../../run-program.ts';
import { allOption, apiCommand, apiGroup, limitOption, waitOption } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { printPage, requestPage, type Shape } from '../pages.ts';
import { followExecution, gatesText, reportEnd, reportStart } from './follow.ts';

const exampleId = 'ex_01K00000000000000000000000';

const executionShape: Shape<ExecutionListItem> = {
  columns: {
    id: ({ id }) => id,
    status: executionStateText,
    started: ({ startedAt }) => startedAt,
    duration: ({ durationMs }) => (durationMs === undefined ? undefined : durationText(durationMs)),
    task: ({ taskId }) => taskId,
    agent: ({ agentName }) => agentName,
  },
  flexible: 'agent',
};

const list = apiCommand(
  'list',
  'List executions, newest first',
  'executions list --status failed',
  'executions list --agent builder --limit 5 --json',
)
  .addOption(new Option('--status <status>', 'only executions with this status').choices(ExecutionStatus.options))
  .option('--agent <name>', 'only executions of this agent', readBy(AgentName))
  .addOption(limitOption())
  .addOption(allOption())
  .action(async ({ status, agent, ...options }, command) => {
    const client = connect(options, command);
    const query = { status, agentName: agent, include: ['results' as const] };
    const page = await requestPage(
      options,
      (limit) => client.listExecutions({ query: { ...query, limit } }),
      () => everyItem(client.listExecutions, { query }),
    );
    printPage(page, 'execution', executionShape, options);
  });

const show = apiCommand(
  'show',
  'Show an execution with its input and its output',
  `executions show ${exampleId}`,
  `executions show ${exampleId} --agent builder`,
)
  .argument('<id>', 'the id of the execution', readBy(ExecutionId))
  .addOption(agentOption())
  .action(async (id, { agent, ...options }, command) => {
    const client = connect(options, command);
    const name = agent ?? (await findAgentOf(client, id));
    const { data: execution } = await client.getExecution({ params: { name, id } });
    const rows = [
      ['id', execution.id],
      ['agent', execution.agentName],
      ['status', executionStateText(execution)],
      ['error', execution.error],
      ['reason', execution.errorReason === execution.error ? undefined : execution.errorReason],
      ['task', execution.taskId],
      ['delegation', execution.delegationId],
      ['started', execution.startedAt],
      ['ended', execution.completedAt],
      ['duration', execution.durationMs === undefined ? undefined : durationText(execution.durationMs)],
      ['model', execution.model],
      ['tokens', tokensText(execution)],
      ['quality gates', gatesText(execution.qualityGates)],
      ['self-test', execution.gateReasons?.selfTest],
      ['QA review', execution.gateReasons?.qaReview],
      ['input', execution.input],
      ['output', execution.output],
    ] as const;
    printDetail(execution, rows, options);
  });

const stepShape: Shape<Operations['listSteps']['data'][number]> = {
  columns: {
    step: ({ number }) => String(number),
    kind: ({ kind }) => kind,
    name: ({ name }) => name,
    duration: ({ durationMs }) => (durationMs === undefined ? undefined : durationText(durationMs)),
    tokens: ({ tokensUsed }) => tokensUsed?.toLocaleString('en'),
    result: ({ error, output }) => (error === undefined ? output : `failed: ${error}`),
  },
  flexible: 'result',
};

const steps = apiCommand(
  'steps',
  'List the steps of an execution: calls of the model and of tools, and the quality gates',
  `executions steps ${exampleId}`,
  `executions steps ${exampleId} --agent builder --all --json`,
)
  .argument('<id>', 'the id of the execution', readBy(ExecutionId))
  .addOption(agentOption())
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (id, { agent, ...options }, command) => {
    const client = connect(options, command);
    const params = { name: agent ?? (await findAgentOf(client, id)), id };
    const page = await requestPage(
      options,
      (limit) => client.listSteps({ params, query: { limit } }),
      () => everyItem(client.listSteps, { params }),
    );
    printPage(page, 'step', stepShape, options);
  });

const watch = apiCommand(
  'watch',
  'Follow an execution until it ends',
  `executions watch ${exampleId}`,
  `executions watch ${exampleId} --agent builder --json`,
)
  .description('Follow an execution until it ends. The exit code is 1 if it fails.')
  .argument('<id>', 'the id of the execution', readBy(ExecutionId))
  .addOption(agentOption())
  .action(async (id, { agent, ...options }, command) => {
    const client = connect(options, command);
    const execution = await followExecution(client, { name: agent ?? (await findAgentOf(client, id)), id });
    reportEnd(execution);
    if (options.json) printJson({ data: execution });
  });

const cancel = apiCommand(
  'cancel',
  'Cancel a running execution',
  `executions cancel ${exampleId}`,
  `executions cancel ${exampleId} --agent builder --keep-delegated`,
)
  .description(
    'Cancel a running execution, and those that it has delegated. They end as failed, and their work stops within 5 seconds.',
  )
  .argument('<id>', 'the id of the execution', readBy(ExecutionId))
  .addOption(agentOption())
  .option('--keep-delegated', 'let the executions go on that it has delegated')
  .action(async (id, { agent, keepDelegated, ...options }, command) => {
    const client = connect(options, command);
    const name = agent ?? (await findAgentOf(client, id));
    const body = { delegated: !keepDelegated };
    const { data: execution } = await client.cancelExecution({ params: { name, id }, body });
    if (options.json) return printJson({ data: execution });
    console.log(`${id} of ${name} is cancelled after ${durationText(execution.durationMs ?? 0)}.`);
  });

const rerun = apiCommand(
  'rerun',
  'Run an execution again with the same input, context and task',
  `executions rerun ${exampleId}`,
  `executions rerun ${exampleId} --agent builder --wait`,
)
  .description(
    'Run an execution again: a new one with the same input, context and task. Prints its id, or its output with --wait.',
  )
  .argument('<id>', 'the id of the execution', readBy(ExecutionId))
  .addOption(agentOption())
  .addOption(waitOption())
  .action(async (id, { agent, ...options }, command) => {
    const client = connect(options, command);
    const name = agent ?? (await findAgentOf(client, id));
    const { data: started } = await client.rerunExecution({ params: { name, id } });
    await reportStart(client, started, options);
  });

/** `crewboard executions`: the executions of agents. */
export const executions = apiGroup(
  'executions',
  'List, show, watch, cancel and rerun executions',
  'executions list --status running',
)
  .addCommand(list)
  .addCommand(show)
  .addCommand(steps)
  .addCommand(watch)
  .addCommand(cancel)
  .addCommand(rerun);

function agentOption() {
  return new Option('--agent <name>', 'its agent (default: looked up among the newest executions)').argParser(
    readBy(AgentName),
  );
}

/** How many executions are searched for one whose agent is not named. */
const longestSearch = 1000;

/**
 * Returns the name of the agent of an execution, which the API needs. Reads the list of executions, newest first.
 *
 * @throws `CommandFailure` if the execution is not among the newest ones
 */
async function findAgentOf(client: Client, id: string): Promise<string> {
  let searched = 0;
  for await (const execution of everyItem(client.listExecutions, {})) {
    if (execution.id === id) return execution.agentName;
    const isOlder = Date.parse(execution.startedAt) < timeOf(ulidOf(id));
    if (isOlder) break;
    if (++searched === longestSearch)
      throw new CommandFailure(
        `${id} is not among the newest ${longestSearch} executions; name its agent with --agent.`,
      );
  }
  throw new CommandFailure(`There is no execution ${id}; list executions with: executions list.`);
}
