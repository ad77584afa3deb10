import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { selfImproveAgent as row } from '../../lib/contract/agents/improvements.ts';
import { serve } from '../../lib/http/serve.ts';
import { selfImproveAgent } from '../../lib/improvements/improvements.ts';
import { createBedrockModel } from '../../lib/model/bedrock.ts';
import { logFailure } from '../../lib/workers/log-failure.ts';
import { meteredModel } from '../../lib/workers/metered-model.ts';

const { model, metering } = meteredModel(createBedrockModel(process.env, logFailure));
const tools = { model, catalogue: readSkills() };

export const handler = serve(row, async ({ params, body, caller, recordResponse }, context) =>
  metering(() =>
    selfImproveAgent(context, caller.organization, params.name, body, tools, recordResponse, caller.scopes),
  ),
);
