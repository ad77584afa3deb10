import { AgentName } from '../../../../lib/contract/shapes.ts';
import { TaskId } from '../../../../lib/contract/tasks/tasks.ts';
import { readBy } from '../../command.ts';
import { printJson } from '../../json.ts';
import { apiCommand, waitOption } from '../api-command.ts';
import { connect } from '../connection.ts';
import { reportStart } from '../executions/follow.ts';
import { contextOption, givenText } from '../given-values.ts';

/** `crewboard agents run`: starts an execution. */
export const run = apiCommand(
  'run',
  'Run an agent and print the id of the execution, or its output with --wait',
  'agents run builder "Build the landing page." --wait',
  'agents run builder "Build it." --task tk_01K00000000000000000000000',
)
  .argument('<name>', 'the name of the agent', readBy(AgentName))
  .argument('<input>', 'the instruction for the agent; - reads it from standard input')
  .option('--task <id>', 'the task to work on', readBy(TaskId))
  .addOption(contextOption())
  .addOption(waitOption())
  .action(async (name, input, { task: taskId, context, ...options }, command) => {
    const client = connect(options, command);
    const body = { input: await givenText(input), taskId, context };
    const { data: started } = await client.executeAgent({ params: { name }, body });
    await reportStart(client, started, options);
  });

/** `crewboard agents delegate`: lets another agent run for an agent. */
export const delegate = apiCommand(
  'delegate',
  'Delegate work of an agent to another agent, and print the id of the delegation',
  'agents delegate planner builder "Build the landing page."',
  'agents delegate planner builder "Build it." --task tk_01K00000000000000000000000 --json',
)
  .description(
    'Delegate work of an agent to another agent, and print the id of the delegation. The execution of the other agent has it.',
  )
  .argument('<name>', 'the name of the agent that delegates', readBy(AgentName))
  .argument('<to>', 'the name of the agent that does the work', readBy(AgentName))
  .argument('<instruction>', 'the instruction for it; - reads it from standard input')
  .option('--task <id>', 'the task to work on', readBy(TaskId))
  .addOption(contextOption())
  .action(async (name, toAgent, instruction, { task: taskId, context, ...options }, command) => {
    const client = connect(options, command);
    const body = { toAgent, instruction: await givenText(instruction), taskId, context };
    const { data } = await client.delegateTask({ params: { name }, body });
    if (options.json) return printJson({ data });
    console.log(data.delegationId);
  });
