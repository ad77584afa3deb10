import { text } from 'node:stream/consumers';
import { Option } from '@commander-js/extra-typings';
import { everyItem } from '../../../../lib/client/client.ts';
import type { Agent, AgentListItem } from '../../../../lib/client/operations.ts';
import { AgentCategory, AgentStatus, highestConduct } from '../../../../lib/contract/agents.ts';
import { AgentName } from '../../../../lib/contract/shapes.ts';
import { TaskId } from '../../../../lib/contract/tasks.ts';
import { readBy, wholeNumber } from '../../command.ts';
import { allOption, apiCommand, apiGroup, limitOption, waitOption } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { reportStart } from '../executions/follow.ts';
import { printPage, readPage, type Shape } from '../pages.ts';

const agentShape: Shape<AgentListItem> = {
  columns: {
    name: ({ name }) => name,
    status: ({ status }) => status,
    category: ({ category }) => category,
    model: ({ model }) => model,
    'display name': ({ displayName }) => displayName,
  },
  flexible: 'display name',
};

const list = apiCommand(
  'list',
  'List agents, newest first',
  'agents list --category development',
  'agents list --search review --json',
)
  .addOption(new Option('--status <status>', 'only agents with this status').choices(AgentStatus.options))
  .addOption(new Option('--category <category>', 'only agents of this category').choices(AgentCategory.options))
  .option('--search <words>', 'only agents with words that begin like these, in their names and description')
  .addOption(limitOption())
  .addOption(allOption())
  .action(async ({ status, category, search, ...options }, command) => {
    const client = connect(options, command);
    const query = { status, category, search };
    const page = await readPage(
      options,
      (limit) => client.listAgents({ query: { ...query, limit } }),
      () => everyItem(client.listAgents, { query }),
    );
    printPage(page, 'agent', agentShape, options);
  });

const show = apiCommand('show', 'Show an agent with its system prompt and its soul', 'agents show builder')
  .argument('<name>', 'the name of the agent', readBy(AgentName))
  .action(async (name, options, command) => {
    const { data: agent } = await connect(options, command).getAgent({ params: { name } });
    const rows = [
      ['name', agent.name],
      ['display name', agent.displayName],
      ['id', agent.id],
      ['status', agent.status],
      ['category', agent.category],
      ['model', agent.model],
      ['system agent', agent.isSystem ? 'yes' : undefined],
      ['capabilities', agent.capabilities.join(', ')],
      ...conductRows(agent),
      ['created', agent.createdAt],
      ['updated', agent.updatedAt],
      ['description', agent.description],
      ['system prompt', agent.systemPrompt],
      ['soul', agent.soul],
    ] as const;
    printDetail(agent, rows, options);
  });

/** Returns how an agent works on its tasks, as labels and values. */
function conductRows({ autoRun, maxRunning, autoRetry, autoAccept, dependencyResults }: Agent) {
  return [
    ['auto run', yesOrNo(autoRun)],
    ['max running', String(maxRunning)],
    ['auto retry', String(autoRetry)],
    ['auto accept', yesOrNo(autoAccept)],
    ['dependency results', yesOrNo(dependencyResults)],
  ] as const;
}

const yesOrNo = (value: boolean) => (value ? 'yes' : 'no');

const set = apiCommand(
  'set',
  'Change whether an agent starts by itself on its ready tasks, and how',
  'agents set builder --auto-run --max-running 3 --auto-retry 1',
  'agents set builder --no-auto-run',
)
  .description('Change whether an agent starts by itself on its ready tasks, and how. Leave out what stays.')
  .argument('<name>', 'the name of the agent', readBy(AgentName))
  .option('--auto-run', 'the service starts executions on the ready tasks of the agent')
  .option('--no-auto-run', 'only requests start executions')
  .addOption(
    new Option(
      '--max-running <number>',
      `with as many running executions the service starts no further one, 1 to ${highestConduct.maxRunning}`,
    ).argParser(wholeNumber(highestConduct.maxRunning)),
  )
  .addOption(
    new Option(
      '--auto-retry <number>',
      `how often the service starts again on a task after a failure, 0 to ${highestConduct.autoRetry}`,
    ).argParser(wholeNumber(highestConduct.autoRetry, 0)),
  )
  .option('--auto-accept', 'a task is done if both quality gates pass, and no person reads the output before')
  .option('--no-auto-accept', 'a person accepts the output')
  .option('--dependency-results', 'executions get the outputs of finished dependencies')
  .option('--no-dependency-results', 'executions get nothing of the dependencies')
  .action(async (name, { autoRun, maxRunning, autoRetry, autoAccept, dependencyResults, ...options }, command) => {
    const body = { autoRun, maxRunning, autoRetry, autoAccept, dependencyResults };
    if (Object.values(body).every((value) => value === undefined))
      command.error(
        'error: Name a change: --auto-run, --max-running, --auto-retry, --auto-accept, --dependency-results, or a --no- of them.',
      );
    const { data: agent } = await connect(options, command).updateAgent({ params: { name }, body });
    printDetail(agent, [['name', agent.name], ...conductRows(agent)], options);
  });

const run = apiCommand(
  'run',
  'Run an agent and print the id of the execution, or its output with --wait',
  'agents run builder "Build the landing page." --wait',
  'agents run builder "Build it." --task tk_01K00000000000000000000000',
)
  .argument('<name>', 'the name of the agent', readBy(AgentName))
  .argument('<input>', 'the instruction for the agent; - reads it from standard input')
  .option('--task <id>', 'the task to work on', readBy(TaskId))
  .addOption(waitOption())
  .action(async (name, input, { task: taskId, ...options }, command) => {
    const client = connect(options, command);
    const body = { input: input === '-' ? await text(process.stdin) : input, taskId };
    const { data: started } = await client.executeAgent({ params: { name }, body });
    await reportStart(client, started, options);
  });

/** `crewboard agents`: the agents of the organization. */
export const agents = apiGroup('agents', 'List, show, change and run agents', 'agents list')
  .addCommand(list)
  .addCommand(show)
  .addCommand(set)
  .addCommand(run);
