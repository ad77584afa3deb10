import { describe, expect, it } from 'vitest';
import { converseClient } from '../../../infra/local/model/converse-client.ts';
import type { Rule } from '../../../infra/local/model/model-script.ts';
import { createSimulator } from '../../../infra/local/model/simulator.ts';
import { deleteAgent } from '../../../lib/agents/agents.ts';
import type { NewAgent } from '../../../lib/contract/agents/agents.ts';
import { runDuePurges } from '../../../lib/executions/purges.ts';
import { createConverseModel, type ModelAnswer, type Question } from '../../../lib/model/converse.ts';
import { readSteps } from '../../../lib/table/executions/steps.ts';
import { nested } from '../../values/nested.ts';
import { createTestExecutions, scriptedModel, text } from '../test-executions.ts';
import { conversation, lastResults, requesting, type Script, type ScriptedCall } from '../tool-scripts.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, context } = fixture;
const capabilities = ['tasks.read', 'tasks.write'];
await fixture.addAgent('splitter', { capabilities });

/** Runs an execution of an agent with tools to its end, by one worker after the other. */
async function run(work: Script | ((question: Question) => ModelAnswer | Promise<ModelAnswer>), name = 'splitter') {
  const message = await fixture.start({}, name);
  const { tools, asked } = scriptedModel({ work: typeof work === 'function' ? work : conversation(work) });
  const counts = await fixture.finishAll(message, tools);
  const execution = await fixture.execution(message);
  const steps = await readSteps(fixture.context, { organization, id: message.executionId });
  const questions = asked.filter(({ purpose }) => purpose === 'work');
  return { execution, steps, asked: questions, workers: counts.length };
}

let agents = 0;

/** Adds an agent with tools and other fields; returns its name. */
async function addAgent(fields: Partial<NewAgent>): Promise<string> {
  const name = `agent-${agents++}`;
  await fixture.addAgent(name, { capabilities, ...fields });
  return name;
}

const creating = (title: string): ['create_task', Record<string, unknown>] => ['create_task', { title }];

describe('an agent with tools', () => {
  it('calls them one after the other, gets their results, and answers', async () => {
    const { execution, steps, asked } = await run([
      [creating('First'), creating('Second')],
      (question) => [['get_task', { id: lastResults(question)[1]?.data?.id }]],
      'Both exist.',
    ]);
    expect(execution).toMatchObject({ status: 'completed', output: 'Both exist.', tokensUsed: 41, stepCount: 8 });
    expect(steps.map(({ number, kind, name }) => [number, kind, name])).toEqual([
      [1, 'model', 'writer.model'],
      [2, 'tool', 'create_task'],
      [3, 'tool', 'create_task'],
      [4, 'model', 'writer.model'],
      [5, 'tool', 'get_task'],
      [6, 'model', 'writer.model'],
    ]);
    expect(asked.map(({ turns = [] }) => turns.length)).toEqual([0, 1, 2]);
    expect(asked[0]?.tools?.map(({ name }) => name)).toContain('create_task');
    expect(lastResults(asked[2] as Question)).toMatchObject([{ data: { title: 'Second' } }]);
  });

  it('can answer around a call that the API rejects', async () => {
    const id = 'tk_01K00000000000000000000000';
    const { execution, asked } = await run([[['update_task', { id, title: 'New' }]], 'There is no such task.']);
    expect(lastResults(asked[1] as Question)).toMatchObject([{ error: { code: 'not_found' } }]);
    expect(execution).toMatchObject({ status: 'completed', output: 'There is no such task.' });
  });

  it('gets a task of another organization as not found, and does not change it', async () => {
    const other = await createTestExecutions();
    const { id } = await other.addTask({ title: 'Theirs' });
    const before = await other.dump();
    const { execution, asked } = await run([
      [
        ['get_task', { id }],
        ['update_task', { id, title: 'Mine' }],
      ],
      'It is not here.',
    ]);
    const notFound = { error: { code: 'not_found' } };
    expect(lastResults(asked[1] as Question)).toMatchObject([notFound, notFound]);
    expect([execution?.status, await other.dump()]).toEqual(['completed', before]);
  });

  it('continues with the same conversation after its model has throttled a worker', async () => {
    let throttles = 0;
    const script = conversation([[creating('Once')], 'Done.']);
    const { execution, steps, workers } = await run((question) =>
      question.turns?.length === 1 && throttles++ < 10 ? { kind: 'throttled', tokens: 0 } : script(question),
    );
    expect(workers).toBeGreaterThan(1);
    expect(execution).toMatchObject({ status: 'completed', tokensUsed: 31 });
    expect(steps).toHaveLength(3);
  });

  it('that has lost its tools fails without another question to its model', async () => {
    const name = await addAgent({});
    const { execution, asked } = await run(async () => {
      await fixture.update(name, { capabilities: [] });
      return requesting([['list_tasks', {}]]);
    }, name);
    expect(execution).toMatchObject({ error: expect.stringMatching(/^The agent has lost its tools/), tokensUsed: 10 });
    expect(asked).toHaveLength(1);
  });

  it('pays for the steps before a model call that fails', async () => {
    const failing: ModelAnswer = { kind: 'failed', error: 'The model refused to do this.', tokens: 7 };
    const { execution, steps } = await run([[creating('Before')], failing]);
    expect(execution).toMatchObject({ status: 'failed', error: failing.error, tokensUsed: 17, stepCount: 3 });
    expect(steps.at(-1)).toMatchObject({ kind: 'model', error: failing.error, tokensUsed: 7 });
  });
});

it('the steps of an execution are deleted with its agent', async () => {
  const name = await addAgent({});
  const { execution, steps } = await run([[creating('Kept')], 'Done.'], name);
  expect(steps).toHaveLength(3);
  await deleteAgent(fixture.app, organization, name, () => {});
  await runDuePurges(context, { until: fixture.clock(), hasTime: () => true });
  expect(await readSteps(context, { organization, id: execution?.id as string })).toEqual([]);
});

describe('the limits of an execution', () => {
  const endless = (question: Question) => requesting([['list_tasks', {}]], question.turns?.length);

  it('end endless calls of tools with step_limit', async () => {
    const { execution, steps } = await run(endless);
    expect(execution).toMatchObject({ status: 'failed', error: 'step_limit', tokensUsed: 100, stepCount: 20 });
    expect(steps).toHaveLength(20);
  });

  it('end one message with more calls than steps with step_limit, after the calls that fit', async () => {
    const titles = Array.from({ length: 30 }, (_, nth) => creating(`Part ${nth}`));
    const { execution, steps } = await run([titles], await addAgent({ maxSteps: 4 }));
    expect(execution).toMatchObject({ status: 'failed', error: 'step_limit', stepCount: 4 });
    expect(steps.map(({ kind }) => kind)).toEqual(['model', 'tool', 'tool', 'tool']);
  });

  it('let no model call begin that follows the last token', async () => {
    const { execution, asked } = await run(endless, await addAgent({ maxTokens: 25 }));
    expect(execution).toMatchObject({ status: 'failed', error: 'token_limit', tokensUsed: 30, stepCount: 6 });
    expect(asked).toHaveLength(3);
  });

  it('of an agent do not exceed those of the deployment', async () => {
    const { execution } = await run(endless, await addAgent({ maxSteps: 200, maxTokens: 10_000_000 }));
    expect(execution).toMatchObject({ error: 'step_limit', stepCount: 20 });
  });
});

describe.each<[string, ModelAnswer]>([
  ['of a tool that does not exist', requesting([['delete_everything', {}]])],
  ['with a name of 100,000 characters', requesting([['x'.repeat(100_000), {}]])],
  ['with arguments that are no JSON', requesting([['create_task', undefined]])],
  ['with invalid arguments', requesting([['create_task', { title: 7 }]])],
  ['that cannot be read', { kind: 'malformed', error: 'The call could not be read.', tokens: 10 }],
  ['without calls', requesting([])],
])('a message %s', (_, invalid) => {
  it('is returned to the model, which can send another one', async () => {
    const { execution, asked } = await run([invalid, invalid, [creating('Correct')], invalid, invalid, 'Done.']);
    expect(JSON.stringify(asked[1]?.turns)).toMatch(/validation_failed|not_found|could not be used/);
    expect(execution).toMatchObject({ status: 'completed', output: 'Done.' });
  });

  it('that is the third in a row fails the execution', async () => {
    const { execution, asked } = await run([[creating('Correct')], invalid, invalid, invalid]);
    const error = 'The model sent three messages in a row whose tool calls were all invalid.';
    expect(execution).toMatchObject({ status: 'failed', error, tokensUsed: 40 });
    expect(asked).toHaveLength(4);
  });
});

it.each<[string, ScriptedCall[]]>([
  ['first', [creating('Correct'), ['create_task', { titel: 'X' }]]],
  ['last', [['create_task', { titel: 'X' }], creating('Correct')]],
])('a message whose %s call is valid has it carried out each time, and the execution goes on', async (_, calls) => {
  const { execution, steps } = await run([calls, calls, calls, calls, 'Done.']);
  expect(execution).toMatchObject({ status: 'completed', output: 'Done.' });
  expect(steps.filter(({ kind, output }) => kind === 'tool' && output?.includes('"Correct"'))).toHaveLength(4);
});

it('a model that names an agent wrongly twice, then rightly, delegates', async () => {
  const to = (toAgent: string): ScriptedCall[] => [['delegate_task', { toAgent, instruction: 'x' }]];
  const delegator = await addAgent({ capabilities: ['delegate'] });
  const { execution } = await run([to('Senior Writer'), to('senior_writer'), to('writer'), 'Done.'], delegator);
  expect(execution).toMatchObject({ status: 'completed', output: 'Done.' });
});

describe.each([34, 5_000, 100_000])('arguments that are nested %i levels deep', (levels) => {
  const deep = nested(levels);
  it.each<[string, unknown]>([
    ['an object', deep],
    ['JSON text', `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`],
    ['a list', [deep]],
  ])('as %s are invalid, and the execution goes on and counts its tokens', async (_, input) => {
    const rule = { match: () => true, tokens: 10 };
    const rules = [
      { ...rule, step: 1, tools: [{ name: 'create_task', input }] },
      { ...rule, step: 2, text: 'I could not.' },
    ] as Rule[];
    const model = createConverseModel(
      converseClient(createSimulator({ defaultModel: 'writer.model', latencyMs: 0, rules })),
    );
    const { execution, steps } = await run((question) => model(question));
    expect(execution).toMatchObject({ status: 'completed', output: 'I could not.', tokensUsed: 31 });
    expect(steps[1]).toMatchObject({ name: 'create_task', input: '', isInvalid: true });
  });
});

describe('a huge', () => {
  it('result of a tool is cut to 16 KiB', async () => {
    for (let nth = 0; nth < 3; nth++) await fixture.addTask({ description: '😀'.repeat(10_000) });
    const { execution, steps, asked } = await run([[['list_tasks', { limit: 100 }]], 'There are many.']);
    const [turn] = asked[1]?.turns ?? [];
    const [result] = turn && 'results' in turn ? turn.results : [];
    const bytes = Buffer.byteLength(result?.output as string);
    expect(bytes > 4 * 1024 && bytes <= 16 * 1024).toBe(true);
    expect(steps[1]).toMatchObject({ output: result?.output });
    expect(execution?.status).toBe('completed');
  });

  it('message with calls fails the execution', async () => {
    const { execution } = await run([[creating('x'.repeat(160_000))]]);
    const error = 'The message of the model was longer than it may be.';
    expect(execution).toMatchObject({ status: 'failed', error, tokensUsed: 10 });
  });

  it('answer fails the execution', async () => {
    const { execution } = await run([[creating('Small')], text('x'.repeat(1_000_001), 10)]);
    const error = 'The answer of the model was longer than it may be.';
    expect(execution).toMatchObject({ status: 'failed', error, tokensUsed: 20 });
  });

  it('answer is stored in several items', async () => {
    const output = 'é'.repeat(400_000);
    const { execution } = await run([[creating('Long')], output]);
    expect(execution?.output === output).toBe(true);
  });
});
