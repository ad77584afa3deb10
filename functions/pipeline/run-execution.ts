import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { lookAtAgent } from '../../lib/executions/auto-run.ts';
import { runExecution } from '../../lib/executions/run/run-execution.ts';
import { answeringModel } from '../../lib/model/answering-model.ts';
import { createBedrockModel } from '../../lib/model/bedrock.ts';
import { ExecutionOrOrder } from '../../lib/names/messages.ts';
import { callAgentTool, grantedTools } from '../../lib/tools/agent-tools.ts';
import { consumeQueue } from '../../lib/workers/consume.ts';
import { logFailure } from '../../lib/workers/log-failure.ts';
import { meteredModel } from '../../lib/workers/metered-model.ts';

const { model, metering } = meteredModel(createBedrockModel(process.env, logFailure));
const tools = {
  model,
  answeringModel,
  catalogue: readSkills(),
  agentTools: { grantedTools, callTool: callAgentTool },
};

export const handler = consumeQueue(ExecutionOrOrder, async (message, context) => {
  if ('executionId' in message) return metering(() => runExecution(context, message, tools));
  await lookAtAgent(context, message.organization, message.agentName);
  return {};
});
