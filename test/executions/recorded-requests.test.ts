import { describe, expect, it } from 'vitest';
import { assignSkill } from '../../lib/agents/agents.ts';
import type { CatalogueSkill } from '../../lib/agents/skill-catalogue.ts';
import { createBedrockModel } from '../../lib/model/bedrock.ts';
import { json, startBedrock } from '../model/bedrock-server.ts';
import { createTestExecutions } from './test-executions.ts';

const skill = (name: string): CatalogueSkill => ({
  id: `sk_${name}`,
  name,
  description: name,
  body: `How to ${name}. 🧭`,
});
const catalogue = [skill('draw'), skill('read'), skill('write')];
const shown = catalogue.map(({ id, name, description }) => ({ id, name, description }));

const [fixture, bedrock] = await Promise.all([createTestExecutions(), startBedrock()]);
const usage = { inputTokens: 7, outputTokens: 3, totalTokens: 10 };
const answer = { output: { message: { content: [{ text: 'Fine.\nVERDICT: PASS' }] } }, stopReason: 'end_turn', usage };
bedrock.answer = json(answer);
const tools = { model: createBedrockModel({ MODEL_ENDPOINT: bedrock.endpoint }), catalogue };
for (const id of ['sk_write', 'sk_draw']) {
  await assignSkill(fixture.app, fixture.organization, 'writer', id, shown, undefined);
  fixture.clock.now += 1;
}

/** The body of a Converse request. */
type Body = {
  system: { text: string }[];
  messages: { role: string; content: { text: string }[] }[];
  inferenceConfig: object;
  outputConfig?: object;
};

/** Runs an execution with the real client; returns the requests to Bedrock, that of the work first. */
async function recorded(fields: Parameters<typeof fixture.start>[0]) {
  const message = await fixture.start(fields);
  const from = bedrock.received.length;
  await fixture.run(message, tools);
  expect(await fixture.execution(message)).toMatchObject({ status: 'completed', tokensUsed: 30 });
  return bedrock.received.slice(from).map(({ path, body }) => ({ path, body: JSON.parse(body) as Body }));
}

/** Returns the system part of a request as it was sent. */
const systemOf = (nth: number) => /"system":\[.*?\]/.exec(bedrock.received[nth]?.body ?? '')?.[0];

describe('the requests of an execution to Bedrock', () => {
  it('have soul, prompt and skills as their system, in this order, and all texts of callers in the user message', async () => {
    const { id: taskId } = await fixture.addTask({ title: 'THE-TITLE', description: 'THE-DESCRIPTION' });
    const [work] = await recorded({ input: 'THE-INPUT', taskId, context: { key: 'THE-CONTEXT' } });
    expect(work?.path).toBe('/model/writer.model/converse');
    expect(work?.body).toEqual({
      system: [{ text: 'Calm.\n\nWrite.\n\n# Skill: write\n\nHow to write. 🧭\n\n# Skill: draw\n\nHow to draw. 🧭' }],
      messages: [{ role: 'user', content: [{ text: expect.stringContaining('THE-INPUT') }] }],
      inferenceConfig: { maxTokens: 8_192 },
    });
    const message = work?.body.messages[0]?.content[0]?.text;
    for (const word of ['THE-TITLE', 'THE-DESCRIPTION', 'THE-CONTEXT']) expect(message).toContain(word);
  });

  it('are three, with exactly these parts: no sampling and no tools', async () => {
    const requests = await recorded({ input: 'THE-INPUT' });
    expect(requests).toHaveLength(3);
    for (const { body } of requests) {
      const { outputConfig, ...rest } = body;
      expect(Object.keys(rest).sort()).toEqual(['inferenceConfig', 'messages', 'system']);
      // The reviewer has the default model, which thinks.
      expect([undefined, { effort: 'low' }]).toContainEqual(outputConfig);
      expect(Object.keys(body.inferenceConfig)).toEqual(['maxTokens']);
      expect(body.messages.map(({ role, content }) => [role, content.length])).toEqual([['user', 1]]);
      expect(JSON.stringify(body.system)).not.toContain('THE-INPUT');
    }
  });

  it('have the same system for every execution of a version of the agent', async () => {
    const from = bedrock.received.length;
    const { id: taskId } = await fixture.addTask({ title: 'Another' });
    await recorded({ input: 'One thing.' });
    await recorded({ input: 'Another thing.', taskId, context: { much: 'more' } });
    expect(systemOf(from)).toMatch(/^"system":\[\{"text":"Calm\./);
    expect(systemOf(from + 3)).toBe(systemOf(from));
  });

  it('have another system for another version of the agent', async () => {
    const from = bedrock.received.length;
    await recorded({ input: 'One thing.' });
    await fixture.update('writer', { soul: 'Brisk.' });
    await recorded({ input: 'One thing.' });
    expect(systemOf(from + 3)).toBe(systemOf(from)?.replace('Calm.', 'Brisk.'));
  });
});
