import { environment } from '../../lib/deployment/environment.ts';
import { learningModel } from '../improvements/learning-model.ts';
import { json, startBedrock } from '../model/bedrock-server.ts';

/** Starts a model for the functions of this process that follows its prompt, and proposes an edit that is adopted. */
export async function startImprovingModel(): Promise<void> {
  const bedrock = await startBedrock();
  process.env[environment.modelEndpoint] = bedrock.endpoint;
  const { tools } = learningModel();
  bedrock.answer = async (response) => {
    const { path: model, body } = bedrock.received.at(-1) ?? { path: '', body: '{}' };
    const { system, messages } = JSON.parse(body);
    const question = { model, system: system?.[0].text ?? '', user: messages[0].content[0].text, maxTokens: 1 };
    const said = await tools.model({ ...question, signal: new AbortController().signal });
    const content = [{ text: said.kind === 'text' ? said.text : '' }];
    const message = { role: 'assistant', content };
    json({ output: { message }, stopReason: 'end_turn', usage: { totalTokens: 1 } })(response);
  };
}
