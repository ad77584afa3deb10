import { Option } from '@commander-js/extra-typings';
import { everyItem } from '../../../../lib/client/client.ts';
import type { AgentListItem } from '../../../../lib/client/operations.ts';
import { AgentCategory, AgentStatus } from '../../../../lib/contract/agents/agents.ts';
import { AgentName } from '../../../../lib/contract/shapes.ts';
import { readBy } from '../../command.ts';
import { allOption, apiCommand, apiGroup, limitOption } from '../api-command.ts';
import { confirmDeletion, printDeleted, yesOption } from '../confirmation.ts';
import { connect } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { printPage, requestPage, type Shape } from '../pages.ts';
import { historyShape } from '../tasks/history.ts';
import { metrics } from './agent-metrics.ts';
import { create, editAgent, rowsOfFields } from './edit-agent.ts';
import { improve, improvements } from './improve.ts';
import { prompt, prompts, restorePromptCommand } from './prompts.ts';
import { delegate, run } from './run-agent.ts';

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
    const page = await requestPage(
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
    const { displayName, status, category, model, capabilities, description, systemPrompt, soul, ...others } =
      rowsOfFields(agent);
    const rows = [
      ['name', agent.name],
      displayName,
      ['id', agent.id],
      ...[status, category, model],
      ['system agent', agent.isSystem ? 'yes' : undefined],
      capabilities,
      ...Object.values(others),
      ['created', agent.createdAt],
      ['updated', agent.updatedAt],
      ...[description, systemPrompt, soul],
    ] as const;
    printDetail(agent, rows, options);
  });

const remove = apiCommand('delete', 'Delete an agent', 'agents delete builder', 'agents delete builder --yes')
  .description(
    'Delete an agent with all its executions, permanently. Its tasks keep its name. System agents cannot be deleted.',
  )
  .argument('<name>', 'the name of the agent', readBy(AgentName))
  .addOption(yesOption())
  .action(async (name, { yes, ...options }, command) => {
    const client = connect(options, command);
    await confirmDeletion({ yes }, command, async () => {
      const { data: agent } = await client.getAgent({ params: { name } });
      return `the agent ${name} "${agent.displayName}" and all its executions`;
    });
    await client.deleteAgent({ params: { name } });
    printDeleted(`the agent ${name}`, { name }, options);
  });

const history = apiCommand(
  'history',
  'List what has changed of an agent and who has done it, newest first',
  'agents history builder',
  'agents history builder --all --json',
)
  .description(
    'List what has changed of an agent and who has done it, newest first. An entry appears about a second after its change.',
  )
  .argument('<name>', 'the name of the agent', readBy(AgentName))
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (name, options, command) => {
    const client = connect(options, command);
    const page = await requestPage(
      options,
      (limit) => client.getAgentHistory({ params: { name }, query: { limit } }),
      () => everyItem(client.getAgentHistory, { params: { name } }),
    );
    printPage(page, 'change', historyShape, options);
  });

/** `crewboard agents`: the agents of the organization. */
export const agents = apiGroup(
  'agents',
  'List, show, create, change, run, measure, improve and delete agents',
  'agents list',
)
  .addCommand(list)
  .addCommand(show)
  .addCommand(create)
  .addCommand(editAgent)
  .addCommand(run)
  .addCommand(delegate)
  .addCommand(metrics)
  .addCommand(improve)
  .addCommand(improvements)
  .addCommand(prompts)
  .addCommand(prompt)
  .addCommand(restorePromptCommand)
  .addCommand(history)
  .addCommand(remove);
