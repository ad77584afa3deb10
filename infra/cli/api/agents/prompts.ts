import { everyItem } from '../../../../lib/client/client.ts';
import type { PromptListItem } from '../../../../lib/client/operations.ts';
import { AgentName, PromptHash } from '../../../../lib/contract/shapes.ts';
import { readBy } from '../../command.ts';
import { printJson } from '../../json.ts';
import { allOption, apiCommand, limitOption } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { printPage, requestPage, type Shape } from '../pages.ts';

const exampleHash = `sha256:${'0'.repeat(64)}`;

const promptShape: Shape<PromptListItem> = {
  columns: {
    hash: ({ hash }) => hash,
    created: ({ createdAt }) => createdAt,
    source: ({ source }) => source,
    changes: ({ changesSummary }) => changesSummary,
  },
  flexible: 'changes',
};

/** `crewboard agents prompts`: lists the system prompts that an agent has had. */
export const prompts = apiCommand(
  'prompts',
  'List the system prompts that an agent has and has had, newest first',
  'agents prompts builder',
  'agents prompts builder --all --json',
)
  .argument('<name>', 'the name of the agent', readBy(AgentName))
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (name, options, command) => {
    const client = connect(options, command);
    const page = await requestPage(
      options,
      (limit) => client.listPrompts({ params: { name }, query: { limit } }),
      () => everyItem(client.listPrompts, { params: { name } }),
    );
    printPage(page, 'prompt', promptShape, options);
  });

/** `crewboard agents prompt`: shows a system prompt that an agent has or has had. */
export const prompt = apiCommand(
  'prompt',
  'Show a current or former system prompt of an agent',
  `agents prompt builder ${exampleHash}`,
)
  .argument('<name>', 'the name of the agent', readBy(AgentName))
  .argument('<hash>', 'the hash of the prompt, as agents prompts lists it', readBy(PromptHash))
  .action(async (name, hash, options, command) => {
    const { data } = await connect(options, command).getPrompt({ params: { name, hash } });
    const rows = [
      ['hash', data.hash],
      ['created', data.createdAt],
      ['source', data.source],
      ['changes', data.changesSummary],
      ['system prompt', data.systemPrompt],
    ] as const;
    printDetail(data, rows, options);
  });

/** `crewboard agents restore-prompt`: makes a former system prompt the current one. */
export const restorePromptCommand = apiCommand(
  'restore-prompt',
  'Make a former system prompt of an agent the current one',
  `agents restore-prompt builder ${exampleHash}`,
)
  .argument('<name>', 'the name of the agent', readBy(AgentName))
  .argument('<hash>', 'the hash of the prompt, as agents prompts lists it', readBy(PromptHash))
  .action(async (name, hash, options, command) => {
    const { data } = await connect(options, command).restorePrompt({ params: { name, hash } });
    if (options.json) return printJson({ data });
    console.log(`${name} has the prompt ${hash}.`);
  });
