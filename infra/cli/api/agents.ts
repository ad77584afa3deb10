import { text } from 'node:stream/consumers';
import { Option } from '@commander-js/extra-typings';
import { everyItem } from '../../../lib/client/client.ts';
import type { AgentListItem } from '../../../lib/client/operations.ts';
import { AgentCategory, AgentStatus } from '../../../lib/contract/agents.ts';
import { AgentName } from '../../../lib/contract/shapes.ts';
import { TaskId } from '../../../lib/contract/tasks.ts';
import { readBy } from '../command.ts';
import { allOption, apiCommand, apiGroup, limitOption, waitOption } from './api-command.ts';
import { connect } from './connection.ts';
import { printDetail } from './detail.ts';
import { reportStart } from './follow.ts';
import { printPage, readPage, type Shape } from './pages.ts';

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
      ['created', agent.createdAt],
      ['updated', agent.updatedAt],
      ['description', agent.description],
      ['system prompt', agent.systemPrompt],
      ['soul', agent.soul],
    ] as const;
    printDetail(agent, rows, options);
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
export const agents = apiGroup('agents', 'List, show and run agents', 'agents list')
  .addCommand(list)
  .addCommand(show)
  .addCommand(run);
