import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { ExecutionMessage } from '../../lib/deployment/messages.ts';
import { runExecution } from '../../lib/executions/run-execution.ts';
import { answeringModel, createBedrockModel } from '../../lib/model/bedrock.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';
import { logFailure } from '../../lib/queue/log-failure.ts';
import { meteredModel } from '../../lib/queue/metered-model.ts';
import { callTool, grantedTools } from '../../lib/tools/agent-tools.ts';

const tools = {
  model: meteredModel(createBedrockModel(process.env, logFailure)),
  answeringModel,
  catalogue: readSkills(),
  agentTools: { grantedTools, callTool },
};

export const handler = consumeQueue(ExecutionMessage, async (message, context) =>
  runExecution(context, message, tools),
);
