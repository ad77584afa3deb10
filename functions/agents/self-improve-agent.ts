import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { improvementsApp } from '../../lib/apps/improvements.ts';
import { selfImproveAgent } from '../../lib/contract/improvements.ts';
import { serve } from '../../lib/http/serve.ts';
import { createBedrockModel } from '../../lib/model/bedrock.ts';
import { logFailure } from '../../lib/queue/log-failure.ts';

const tools = { model: createBedrockModel(process.env, logFailure), catalogue: readSkills() };

export const handler = serve(
  selfImproveAgent,
  async ({ params, body, caller, recordResponse }, { improvements }) =>
    improvements.improve(caller.organization, params.name, body, tools, recordResponse),
  improvementsApp,
);
