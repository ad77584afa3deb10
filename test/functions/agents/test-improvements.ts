import type { Improvement } from '../../../lib/contract/agents/improvements.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import type { ModelAnswer as Said } from '../../../lib/model/converse.ts';
import { environment } from '../../../lib/names/environment.ts';
import { dataOf, type Request } from '../../api.ts';
import { learningModel, type Says, type Step } from '../../improvements/learning-model.ts';
import { bedrockError, json, startBedrock } from '../../model/bedrock-server.ts';
import type { Answer } from '../../service.ts';
import { createTestExecutions, type ExecutionsApi } from '../executions/test-executions.ts';

/** Returns the result of a pass of self-improvement in a response. */
export const improvementOf = (answer: Answer): Improvement => dataOf<Improvement>(answer);

/** The execution endpoints, and `improve`, which runs a pass for the agent `writer`. */
export type ImprovementsApi = ExecutionsApi & { improve: (body?: unknown, more?: Request) => Promise<Answer> };

/** A model whose output fails the review. */
export const faulty = async ({ user }: { user: string }): Promise<Said> => ({
  kind: 'text',
  text: user.includes('Done.') ? 'VERDICT: FAIL' : 'Done.',
  tokens: 1,
});

/** One server for all test files of a process: the functions create their client once. */
const bedrock = await startBedrock();

/** Creates organizations as `createTestExecutions` does; the handlers call a Bedrock server of the test. */
export async function createTestImprovements() {
  const { service, newExecutionsApi } = await createTestExecutions({ [environment.modelEndpoint]: bedrock.endpoint });

  /** Sets what the models answer from now on, and returns the list that records their questions. */
  const teach = (says: Partial<Record<Step, Says>> = {}) => {
    const { tools, asked } = learningModel(says);
    bedrock.answer = async (response) => {
      const { path, body } = bedrock.received.at(-1) ?? { path: '', body: '{}' };
      const { system = [{ text: '' }], messages } = JSON.parse(body);
      const question = { model: path, system: system[0].text, user: messages[0].content[0].text, maxTokens: 1 };
      const said = await tools.model({ ...question, signal: new AbortController().signal });
      if (said.kind !== 'text') return bedrockError(429, 'ThrottlingException')(response);
      const output = { message: { role: 'assistant', content: [{ text: said.text }] } };
      json({ output, stopReason: 'end_turn', usage: { totalTokens: 1 } })(response);
    };
    return asked;
  };

  return {
    service,
    bedrock,
    teach,

    /** Creates an organization whose agent `writer` has a prompt and, unless `scopes` is given, a failed execution. */
    newImprovementsApi: async (scopes?: readonly Scope[]): Promise<ImprovementsApi> => {
      const api = await newExecutionsApi(scopes);
      if (!scopes) {
        await api.agents.update('writer', { systemPrompt: 'Write.', soul: 'Calm.' });
        await api.carryOut(await api.start(), faulty);
      }
      return {
        ...api,
        improve: (body, more) => api.agents.selfImproveAgent({ params: { name: 'writer' }, body, ...more }),
      };
    },
  };
}
