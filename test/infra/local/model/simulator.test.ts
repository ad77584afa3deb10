import { describe, expect, it, vi } from 'vitest';
import { converseClient } from '../../../../infra/local/model/converse-client.ts';
import type { Rule } from '../../../../infra/local/model/model-script.ts';
import { createSimulator, type SimulatorOptions } from '../../../../infra/local/model/simulator.ts';
import { namedModels } from '../../../../lib/contract/agents/models.ts';
import { createConverseModel, type ModelAnswer, type Question, type Turn } from '../../../../lib/model/converse.ts';

/** Returns a function that sends a prompt to a simulator through the model client. */
function simulate(rules: Rule[] = [], options: Partial<SimulatorOptions> = {}) {
  const model = createSimulator({ defaultModel: 'the-default', latencyMs: 0, rules, ...options });
  const ask = createConverseModel(converseClient(model));
  const { signal } = new AbortController();
  return (user: string, more: Partial<Question> = {}) =>
    ask({ model: 'the-default', system: '', user, maxTokens: 100, signal, ...more });
}

const rule = (text: string, more: Partial<Rule> = {}): Rule => ({ match: (user) => user.includes(text), ...more });
const failed = (error: string) => ({ kind: 'failed', error });
const unknown = failed('There is no such model, or it cannot be used from here.');
const textOf = (answer: object) => ('text' in answer ? answer.text : answer);

describe('the simulator', () => {
  it('marks its answer, and quotes the start of the prompt in whole characters', async () => {
    expect(textOf(await simulate()('Write  a\nhaiku'))).toBe(
      'I have worked on “Write a haiku”. The result is ready to be checked. (simulated)',
    );
    expect(textOf(await simulate()(`a${'👋'.repeat(300)}`))).toMatch(/“a(👋){199}…”/u);
  });

  it('counts a token for four characters of system prompt, user message and answer', async () => {
    const ask = simulate([rule('', { text: 'x'.repeat(41) })]);
    expect(await ask('y'.repeat(40), { system: 'z'.repeat(80) })).toMatchObject({ tokens: 20 + 10 + 11 });
  });

  it('passes every quality gate', async () => {
    const answer = await simulate()('Is it good? End with this line:\nVERDICT: PASS or VERDICT: FAIL\nHere it is.');
    expect(answer).toMatchObject({ kind: 'text', text: 'The work does what was asked. (simulated)\nVERDICT: PASS' });
  });

  it('accepts the default models of this version and of earlier ones, and those of its script, and no others', async () => {
    const ask = simulate([rule('', { model: 'scripted', text: 'Yes.' })]);
    for (const model of ['the-default', ...namedModels])
      expect(textOf(await ask('Hello?', { model }))).toMatch(/simulated/);
    expect(textOf(await ask('Hello?', { model: 'scripted' }))).toBe('Yes.');
    expect(await ask('Hello?', { model: 'another' })).toMatchObject(unknown);
  });
});

describe('a rule', () => {
  it('answers if it is the first match', async () => {
    const ask = simulate([rule('tea', { text: 'one' }), rule('green tea', { text: 'two' })]);
    expect(textOf(await ask('green tea'))).toBe('one');
    expect(textOf(await ask('coffee', { system: 'tea' }))).toMatch(/simulated/);
  });

  it('with a condition for the system prompt needs both to match', async () => {
    const system = (text: string) => text.includes('short');
    const ask = simulate([rule('haiku', { system, text: 'Short.' }), rule('', { text: 'Any.' })]);
    expect(textOf(await ask('A haiku.', { system: 'Be short.' }))).toBe('Short.');
    expect(textOf(await ask('A haiku.', { system: 'Be long.' }))).toBe('Any.');
    expect(textOf(await ask('An ode.', { system: 'Be short.' }))).toBe('Any.');
  });

  it('with `times` applies that often, then the next rule applies', async () => {
    const ask = simulate([rule('', { times: 2, throttle: true }), rule('', { text: 'done' })]);
    const kinds: string[] = [];
    for (const user of 'abcd') kinds.push((await ask(user)).kind);
    expect(kinds).toEqual(['throttled', 'throttled', 'text', 'text']);
  });

  it.each<[string, Partial<Rule>, object]>([
    ['a failed quality gate', { text: 'VERDICT: FAIL' }, { kind: 'text', text: 'VERDICT: FAIL' }],
    ['an empty text', { text: '' }, failed('The answer of the model was empty.')],
    ['throttling', { throttle: true }, { kind: 'throttled' }],
    ['throttling with a small letter', { error: 'throttlingException' }, { kind: 'throttled' }],
    ['an error', { error: 'AccessDeniedException' }, failed('This deployment has no access to the model.')],
    ['a timeout', { error: 'ModelTimeoutException' }, { kind: 'faulty', error: 'The model took too long to answer.' }],
    ['a malformed response', { malformed: true }, { kind: 'faulty', error: expect.stringContaining('be read') }],
    ['a declined prompt', { refusal: true }, failed('The model refused to do this.')],
    ['a stop reason', { stopReason: 'max_tokens' }, failed('The answer of the model was longer than it may be.')],
  ])('can cause %s', async (_, outcome, answer) => {
    expect(await simulate([rule('', outcome)])('VERDICT: PASS or VERDICT: FAIL')).toMatchObject(answer);
  });

  it.each([0, 1, 12, 100_000])('can report %i tokens', async (tokens) => {
    const ask = simulate([rule('', { text: 'Yes.', tokens })]);
    expect(await ask('Hello? '.repeat(10))).toMatchObject({ kind: 'text', tokens });
  });
});

describe('a conversation with tools', () => {
  const tools = ['create_task', 'get_task'].map((name) => ({
    name,
    description: name,
    inputSchema: { type: 'object' },
  }));
  const call = (name: string, input: Record<string, unknown> | string = {}) => ({ tool: { name, input } });
  const isTea = { match: (user: string) => user.includes('tea') };

  /** Asks until the model answers without calls, and returns its answers. `output` is the result of each call. */
  async function converse(ask: ReturnType<typeof simulate>, output: (nth: number) => string, most = 9) {
    const turns: Turn[] = [];
    const answers: ModelAnswer[] = [];
    for (let nth = 0; answers.length < most; ) {
      const answer = await ask('tea', { tools, turns: [...turns] });
      answers.push(answer);
      if (answer.kind !== 'tools') break;
      const results = answer.calls.map(({ id }) => ({ id, output: output(nth++), isError: false }));
      turns.push({ content: answer.content, results });
    }
    return answers;
  }
  const callsOf = (answers: ModelAnswer[]) =>
    answers.flatMap((answer) =>
      answer.kind === 'tools' ? [answer.calls.map(({ name, input }) => ({ name, input }))] : [],
    );

  it('has no call without a script, unless the input asks for it', async () => {
    expect(textOf(await simulate()('tea', { tools }))).toMatch(/simulated/);
  });

  it('follows rules for its steps, and its inputs and texts use earlier results', async () => {
    const rules: Rule[] = [
      {
        ...isTea,
        step: 1,
        tools: [call('create_task', { title: 'One' }).tool, call('create_task', { title: 'Two' }).tool],
      },
      { ...isTea, step: 2, ...call('get_task', { id: '{{results.1.id}}', deep: [{ all: '{{results.0}}' }], n: 1 }) },
      { ...isTea, step: 3, text: 'Created {{results.0.id}} and {{results.1.tags.0}}, {{results.2}}.' },
    ];
    const answers = await converse(simulate(rules), (nth) =>
      nth === 2 ? 'read' : `{"id":"tk_${nth}","tags":[{"a":1}]}`,
    );
    expect(callsOf(answers)).toEqual([
      [
        { name: 'create_task', input: { title: 'One' } },
        { name: 'create_task', input: { title: 'Two' } },
      ],
      [{ name: 'get_task', input: { id: 'tk_1', deep: [{ all: { id: 'tk_0', tags: [{ a: 1 }] } }], n: 1 } }],
    ]);
    expect(textOf(answers.at(-1) as ModelAnswer)).toBe('Created tk_0 and {"a":1}, read.');
  });

  it('uses groups of the regular expression that matched the first user message, with and without tools', async () => {
    const match = (user: string) => /give (\w+) to (\w+)?/.exec(user) ?? false;
    const rules: Rule[] = [
      {
        match,
        step: 1,
        ...call('get_task', { id: '{{match.1}}', agents: ['{{match.2}}', '{{match.3}}', '{{match.1.x}}'] }),
      },
      { match, text: 'Gave {{match.1}} after “{{match.0}}”.' },
    ];
    const ask = simulate(rules);
    const agents = ['writer', '{{match.3}}', '{{match.1.x}}'];
    expect(await ask('Now give tea to writer.', { tools })).toMatchObject({
      calls: [{ input: { id: 'tea', agents } }],
    });
    expect(textOf(await ask('Now give tea to writer.'))).toBe('Gave tea after “give tea to writer”.');
    expect(await ask('Now give tea to .', { tools })).toMatchObject({
      calls: [{ input: { id: 'tea', agents: ['{{match.2}}', '{{match.3}}', '{{match.1.x}}'] } }],
    });
  });

  it.each([
    '{{results.7.id}}',
    '{{results.0.other}}',
    '{{results.0.id.length}}',
    '{{result.0}}',
    '{{results.0.toString}}',
  ])('keeps %s, a reference without a value', async (reference) => {
    const rules: Rule[] = [
      { ...isTea, step: 1, ...call('get_task') },
      { ...isTea, text: `${reference} or ${reference}` },
    ];
    const answers = await converse(simulate(rules), () => '{"id":"tk_1"}');
    expect(textOf(answers[1] as ModelAnswer)).toBe(`${reference} or ${reference}`);
  });

  it('follows rules for the tool and the results before it', async () => {
    const results = (text: string) => text.includes('not_found');
    const rules: Rule[] = [
      { ...isTea, after: 'get_task', results, ...call('create_task') },
      { ...isTea, after: 'get_task', text: 'Found.' },
      { ...isTea, after: 'create_task', text: 'Created.' },
      { ...isTea, ...call('get_task') },
    ];
    const missing = await converse(simulate(rules), () => '{"error":{"code":"not_found"}}');
    expect(missing.map((answer) => textOf(answer) || callsOf([answer])[0]?.[0]?.name)).toEqual([
      'get_task',
      'create_task',
      'Created.',
    ]);
    const found = await converse(simulate(rules), () => '{"id":"tk_1"}');
    expect(textOf(found.at(-1) as ModelAnswer)).toBe('Found.');
  });

  it('can go on without end, and each call has an id of its own', async () => {
    const answers = await converse(simulate([{ ...isTea, ...call('get_task') }]), () => '{}', 30);
    const ids = answers.flatMap((answer) => (answer.kind === 'tools' ? answer.calls.map(({ id }) => id) : []));
    expect(new Set(ids).size).toBe(30);
  });

  it('can have invalid arguments, an unknown tool, and a request for a tool that cannot be read', async () => {
    const rules: Rule[] = [
      { ...isTea, step: 1, times: 1, malformedTool: true },
      {
        ...isTea,
        step: 1,
        tools: [
          { name: 'drop_all', input: {} },
          { name: 'get_task', input: '{"id":' },
        ],
      },
      { ...isTea, text: 'Done.' },
    ];
    const ask = simulate(rules);
    expect(await ask('tea', { tools })).toMatchObject({ kind: 'malformed' });
    const answers = await converse(ask, () => '{"error":{"code":"validation_failed"}}');
    expect(callsOf(answers)).toEqual([
      [
        { name: 'drop_all', input: {} },
        { name: 'get_task', input: undefined },
      ],
    ]);
    expect(textOf(answers.at(-1) as ModelAnswer)).toBe('Done.');
  });

  it('is needed for a rule about tools: other questions, such as those of gates, do not match it', async () => {
    const about: Partial<Rule>[] = [call('get_task'), { tools: [call('get_task').tool] }, { malformedTool: true }];
    const conditions: Partial<Rule>[] = [{ step: 1 }, { after: 'get_task' }, { results: () => true }];
    const rules = [...about, ...conditions.map((one) => ({ ...one, text: 'No.' }))];
    const ask = simulate([...rules.map((one) => ({ ...isTea, ...one })), { ...isTea, text: 'Yes.' }]);
    expect(textOf(await ask('tea'))).toBe('Yes.');
  });

  it('has the tokens of the tools, the results and the calls, or those of the rule', async () => {
    const rules: Rule[] = [
      { ...isTea, step: 1, ...call('get_task') },
      { ...isTea, step: 2, ...call('get_task'), tokens: 7 },
      { ...isTea, text: 'Done.' },
    ];
    const [first, second, third] = await converse(simulate(rules), () => 'x'.repeat(4_000));
    const least = Math.ceil(JSON.stringify(tools).length / 4);
    expect(first?.tokens).toBeGreaterThan(least);
    expect(first?.tokens).toBeLessThan(2 * least);
    expect(second?.tokens).toBe(7);
    expect(third?.tokens).toBeGreaterThan(2_000);
  });
});

describe('the latency', () => {
  it('delays each answer, unless a rule has its own delay', async () => {
    const sleep = vi.fn(async (_: number) => {});
    const rules = [rule('slow', { text: 'Yes.', delayMs: 9_000 }), rule('quick', { text: 'Yes.', delayMs: 0 })];
    const ask = simulate(rules, { latencyMs: 700, sleep });
    for (const user of ['slow', 'quick', 'else']) expect(await ask(user)).toMatchObject({ kind: 'text' });
    expect(sleep.mock.calls.map(([milliseconds]) => milliseconds)).toEqual([9_000, 700]);
  });

  it('is that of the clock by default, and ends when the caller aborts the call', async () => {
    const caller = new AbortController();
    const ask = simulate([rule('slow', { text: 'Yes.', delayMs: 600_000 })]);
    const slow = ask('slow', { signal: caller.signal });
    // An answer without a delay would have arrived after these calls.
    for (let nth = 0; nth < 3; nth++) expect(await ask('quick')).toMatchObject({ kind: 'text' });
    caller.abort();
    expect(await slow).toEqual({ kind: 'aborted', tokens: 0 });
  });
});
