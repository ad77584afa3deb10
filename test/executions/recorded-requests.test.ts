import { describe, expect, it } from 'vitest';
import { assignSkill } from '../../lib/agents/agents.ts';
import { createBedrockModel } from '../../lib/model/bedrock.ts';
import { json, startBedrock } from '../model/bedrock-server.ts';
import { createTestExecutions } from './test-executions.ts';

const catalogue = ['draw', 'read', 'write'].map((name) => ({
  ...{ id: `sk_${name}`, name, description: name, body: `How to ${name}. 🧭` },
}));

const [fixture, bedrock] = await Promise.all([createTestExecutions(), startBedrock()]);
const usage = { inputTokens: 7, outputTokens: 3, totalTokens: 10 };
const output = { message: { content: [{ text: 'Fine.\nVERDICT: PASS' }] } };
bedrock.answer = json({ output, stopReason: 'end_turn', usage });
const tools = { model: createBedrockModel({ MODEL_ENDPOINT: bedrock.endpoint }), catalogue };
// Not in the order of their names, and two of them in the same millisecond.
for (const id of ['sk_write', 'sk_read', 'sk_draw']) {
  await assignSkill(fixture.app, fixture.organization, 'writer', id, catalogue, undefined);
  fixture.clock.now += id === 'sk_write' ? 1 : 0;
}
const skills = ['write', 'draw', 'read'].map((name) => `# Skill: ${name}\n\nHow to ${name}. 🧭`).join('\n\n');

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
  return bedrock.received.slice(from).map(({ path, body }) => ({
    ...{ path, body: JSON.parse(body) as Body },
    system: /"system":\[.*?\]/.exec(body)?.[0],
  }));
}

describe('the requests of an execution to Bedrock', () => {
  it('have soul, prompt and skills as their system, in this order, and all texts of callers in the user message', async () => {
    const { id: taskId } = await fixture.addTask({ title: 'THE-TITLE', description: 'THE-DESCRIPTION' });
    const requests = await recorded({ input: 'THE-INPUT', taskId, context: { key: 'THE-CONTEXT' } });
    expect(requests).toHaveLength(3);
    const [work] = requests;
    expect(work?.path).toBe('/model/writer.model/converse');
    expect(work?.body).toEqual({
      system: [{ text: `Calm.\n\nWrite.\n\n${skills}` }],
      messages: [{ role: 'user', content: [{ text: expect.stringContaining('THE-INPUT') }] }],
      inferenceConfig: { maxTokens: 8_192 },
    });
    const message = work?.body.messages[0]?.content[0]?.text;
    for (const word of ['THE-TITLE', 'THE-DESCRIPTION', 'THE-CONTEXT']) expect(message).toContain(word);
    for (const { body } of requests) {
      // No sampling and no tools. The reviewer has the default model, which thinks.
      const { outputConfig, inferenceConfig, messages, system, ...more } = body;
      expect([more, Object.keys(inferenceConfig)]).toEqual([{}, ['maxTokens']]);
      expect([undefined, { effort: 'low' }]).toContainEqual(outputConfig);
      expect(messages.map(({ role, content }) => [role, content.length])).toEqual([['user', 1]]);
      expect(JSON.stringify(system)).not.toContain('THE-');
    }
  });

  it('have the same bytes as their system for every execution of a version of the agent, and others for the next', async () => {
    const { id: taskId } = await fixture.addTask({ title: 'Another' });
    const [first] = await recorded({ input: 'One thing.' });
    const [second] = await recorded({ input: 'Another thing.', taskId, context: { much: 'more' } });
    expect(first?.system).toMatch(/^"system":\[\{"text":"Calm\./);
    expect(second?.system).toBe(first?.system);
    await fixture.update('writer', { soul: 'Brisk.' });
    const [third] = await recorded({ input: 'One thing.' });
    expect(third?.system).toBe(first?.system?.replace('Calm.', 'Brisk.'));
  });
});
