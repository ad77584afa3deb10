import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { ExecutionMessage } from '../../lib/deployment/messages.ts';
import { runExecution } from '../../lib/executions/run-execution.ts';
import { answeringModel, createBedrockModel } from '../../lib/model/bedrock.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';
import { logFailure } from '../../lib/queue/log-failure.ts';
import { meteredModel } from '../../lib/queue/metered-model.ts';
import { callTool, grantedTools } from '../../lib/tools/agent-tools.ts';

const { model, metering } = meteredModel(createBedrockModel(process.env, logFailure));
const tools = {
  model,
  answeringModel,
  catalogue: readSkills(),
  agentTools: { grantedTools, callTool },
};

export const handler = consumeQueue(ExecutionMessage, async (message, context) =>
  metering(() => runExecution(context, message, tools)),
);
