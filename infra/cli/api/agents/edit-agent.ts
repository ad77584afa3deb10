import { Option } from '@commander-js/extra-typings';
import type { Agent, AgentPatch } from '../../../../lib/client/operations.ts';
import { AgentCategory, AgentStatus } from '../../../../lib/contract/agents/agents.ts';
import { highestConduct } from '../../../../lib/contract/agents/standard-conduct.ts';
import { highestStepLimits } from '../../../../lib/contract/agents/step-limits.ts';
import { AgentName } from '../../../../lib/contract/shapes.ts';
import { readBy, wholeNumber } from '../../command.ts';
import { printJson } from '../../json.ts';
import { apiCommand } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { cleared, givenText, orEmpty } from '../given-values.ts';

/** Creates a command with the fields of an agent as its options. */
function agentCommand(name: string, summary: string, ...examples: string[]) {
  return apiCommand(name, summary, ...examples)
    .argument('<name>', 'the name of the agent', readBy(AgentName))
    .option('--display-name <text>', 'a name for people')
    .option('--description <text>', "the purpose of the agent; '' removes it")
    .addOption(new Option('--category <category>', 'the category').choices(AgentCategory.options))
    .option('--model <id>', "the model; '' stands for the default model of the organization")
    .option('--system-prompt <text>', "the instructions; - reads them from standard input, '' empties them")
    .option('--soul <text>', "values, style and constraints; - reads them from standard input, '' empties them")
    .option('--capabilities <list>', "all capabilities, separated by commas; '' removes them", readList)
    .addOption(new Option('--status <status>', 'the status; only an active agent can run').choices(AgentStatus.options))
    .option(
      '--max-steps <number>',
      "the highest number of steps of an execution; '' removes it",
      orEmpty(wholeNumber(highestStepLimits.steps)),
    )
    .option(
      '--max-tokens <number>',
      "after as many tokens an execution calls the model no more; '' removes it",
      orEmpty(wholeNumber(highestStepLimits.tokens)),
    )
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
    .option('--no-dependency-results', 'executions get nothing of the dependencies');
}

/** `crewboard agents create`: creates an agent. */
export const create = agentCommand(
  'create',
  'Create an agent and print its name',
  'agents create builder --category development --display-name "Page builder"',
  'agents create builder --category development --system-prompt - --capabilities tasks.read,delegate',
).action(async (name, { category, displayName = name, systemPrompt, soul, maxSteps, maxTokens, ...rest }, command) => {
  if (category === undefined)
    return command.error(`error: Name the category: --category with one of ${AgentCategory.options.join(', ')}.`);
  const { description, model, capabilities, status, autoRun, maxRunning, autoRetry, ...further } = rest;
  const { autoAccept, dependencyResults, ...options } = further;
  checkInputs(systemPrompt, soul, command);
  const client = connect(options, command);
  const body = {
    ...{ name, displayName, category, capabilities, status, autoRun, maxRunning, autoRetry, autoAccept },
    ...{ dependencyResults, description },
    model: model || undefined,
    systemPrompt: await givenText(systemPrompt),
    soul: await givenText(soul),
    maxSteps: maxSteps || undefined,
    maxTokens: maxTokens || undefined,
  };
  const { data } = await client.createAgent({ body });
  if (options.json) return printJson({ data });
  console.log(data.name);
});

/** `crewboard agents edit`: changes any fields of an agent. */
export const editAgent = agentCommand(
  'edit',
  'Change the fields of an agent',
  'agents edit builder --status inactive --max-steps 20',
  'agents edit builder --auto-run --max-running 3 --auto-retry 1',
  'agents edit builder --system-prompt - --soul ""',
)
  .alias('set')
  .description('Change the fields of an agent. Leave out what stays; an empty text clears a field.')
  .action(async (name, { systemPrompt, soul, description, model, maxSteps, maxTokens, ...rest }, command) => {
    const { displayName, category, capabilities, status, autoRun, maxRunning, autoRetry, ...further } = rest;
    const { autoAccept, dependencyResults, ...options } = further;
    checkInputs(systemPrompt, soul, command);
    const body = {
      ...{ displayName, category, capabilities, status, autoRun, maxRunning, autoRetry, autoAccept },
      dependencyResults,
      description: cleared(description),
      model: cleared(model),
      systemPrompt: cleared(await givenText(systemPrompt)),
      soul: cleared(await givenText(soul)),
      maxSteps: cleared(maxSteps),
      maxTokens: cleared(maxTokens),
    };
    const changed = Object.entries(body).flatMap(([field, value]) => (value === undefined ? [] : [field as Field]));
    if (changed.length === 0)
      command.error('error: Name a change, such as --model, --system-prompt or --auto-run; --help lists all options.');
    const { data: agent } = await connect(options, command).updateAgent({ params: { name }, body });
    const shown = rowsOfFields(agent);
    const rows = changed.map((field) => [shown[field][0], shown[field][1] || 'none'] as const);
    printDetail(agent, [['name', agent.name], ...rows], options);
  });

type Field = keyof AgentPatch;

/** Returns the fields of an agent that can change, as labels and values. */
export function rowsOfFields(agent: Agent): Record<Field, readonly [label: string, value: string | undefined]> {
  return {
    displayName: ['display name', agent.displayName],
    status: ['status', agent.status],
    category: ['category', agent.category],
    model: ['model', agent.model],
    capabilities: ['capabilities', agent.capabilities.join(', ')],
    autoRun: ['auto run', yesOrNo(agent.autoRun)],
    maxRunning: ['max running', String(agent.maxRunning)],
    autoRetry: ['auto retry', String(agent.autoRetry)],
    autoAccept: ['auto accept', yesOrNo(agent.autoAccept)],
    dependencyResults: ['dependency results', yesOrNo(agent.dependencyResults)],
    maxSteps: ['max steps', agent.maxSteps?.toLocaleString('en')],
    maxTokens: ['max tokens', agent.maxTokens?.toLocaleString('en')],
    description: ['description', agent.description],
    systemPrompt: ['system prompt', agent.systemPrompt],
    soul: ['soul', agent.soul],
  };
}

const yesOrNo = (value: boolean) => (value ? 'yes' : 'no');

/** Reports a command line that takes two texts from standard input, which has one. */
function checkInputs(
  systemPrompt: string | undefined,
  soul: string | undefined,
  command: { error: (message: string) => never },
): void {
  if (systemPrompt === '-' && soul === '-')
    command.error('error: Standard input has one text: for --system-prompt or for --soul.');
}

function readList(given: string): string[] {
  return given === '' ? [] : given.split(',').map((one) => one.trim());
}
