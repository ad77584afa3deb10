import { readFileSync } from 'node:fs';
import type { ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { describe, expect, it } from 'vitest';
import { newSystemAgents } from '../../lib/agents/system-agents.ts';
import { standardModel } from '../../lib/contract/agents/models.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import { grouped } from '../../lib/contract/shapes.ts';
import { evidenceOf } from '../../lib/improvements/evidence.ts';
import { improvementPass, type PassMaterial } from '../../lib/improvements/improvement-pass.ts';
import {
  type ConverseClient,
  createConverseModel,
  type Model,
  type ModelAnswer,
  type Question,
} from '../../lib/model/converse.ts';
import type { StoredAgent } from '../../lib/table/agents/agent-items.ts';
import type { PreparedAgent } from '../../lib/table/agents/prepared-agents.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { silent, text } from '../executions/test-executions.ts';
import { createTimeline } from '../executions/timeline.ts';
import { storedAgent } from '../table/agents/agent-seed.ts';
import { completed, runningExecution } from '../table/executions/execution-table.ts';
import { additions, judges, learningModel, proposes, type Says, type Step, stepOf, usual } from './learning-model.ts';

/** The start time of every pass. */
const opening = Date.UTC(2026, 0, 1);

const fresh = (agent: StoredAgent): PreparedAgent => ({ agent, skills: [] });
const [reviewer, improver] = newSystemAgents(() => ulidOf(storedAgent().id), 'system.model').map(fresh) as Record<
  0 | 1,
  PreparedAgent
> &
  PreparedAgent[];
const learner = fresh(storedAgent({ systemPrompt: 'Write.', soul: 'Calm.', model: 'writer.model' }));

/** Returns a prepared agent with changed fields. */
const as = (prepared: PreparedAgent, fields: Partial<StoredAgent>): PreparedAgent => ({
  ...prepared,
  agent: { ...prepared.agent, ...fields },
});

/** Returns a completed execution with a failed review; `fields` replaces fields. */
const finished = (id: string, fields: Partial<ExecutionHead> = {}): ExecutionHead => ({
  ...{ ...runningExecution({ id }), ...completed({ durationMs: 1_000, tokensUsed: 10 }), ...fields },
});

/** The options of a pass. */
type PassOptions = Partial<Omit<PassMaterial, 'evidence'>> & {
  executions?: readonly ExecutionHead[];
  says?: Partial<Record<Step, Says>>;
  /** The duration of an answer at each step. */
  latencyMs?: Record<Step, number>;
  /** The time between the start of the request and the start of the pass. */
  lateMs?: number;
  /** Returns the model of the pass, which gets its answers from this one. */
  through?: (answers: Model) => Model;
};

/** Runs a pass on its own timeline. Returns the result, the duration, and the questions to the model. */
async function runTestPass({
  executions = [finished('a'), finished('b')],
  says,
  latencyMs,
  lateMs = 0,
  through = (answers) => answers,
  ...more
}: PassOptions = {}) {
  const timeline = createTimeline(opening + lateMs);
  const { clock, pause } = timeline;
  const scripted = learningModel(says);
  const model: Model = async (question) => {
    if (latencyMs) await pause(latencyMs[stepOf(question)], question.signal);
    return question.signal.aborted ? { kind: 'aborted', tokens: 0 } : scripted.tools.model(question);
  };
  const readInput = async ({ id }: ExecutionHead) => ({ input: `Question ${id}?` });
  const counting = { begin: async () => {}, spend: () => {} };
  const material = { prepared: learner, improver, reviewer, focusArea: undefined, readInput, ...counting, ...more };
  const passed = await timeline.finish(
    improvementPass(
      timeline,
      { ...material, evidence: evidenceOf(executions) },
      { model: through(model), catalogue: [] },
      opening,
    ),
  );
  const { proposal, trials, tokensUsed, decision, ...result } = passed;
  const proof = { proposal, trials, tokensUsed, decision };
  const reason = 'reason' in result ? result.reason : undefined;
  return { result, reason, proof, tookMs: clock() - opening, waiting: timeline.waiting(), ...scripted };
}

/** Returns a model that records the limit of tokens of each request to Converse. */
function recordingLimits(answers: Model, limits: number[]): Model {
  const send: unknown = async ({ input }: ConverseCommand) => {
    const { system, messages, inferenceConfig } = input;
    limits.push(inferenceConfig?.maxTokens as number);
    const asked = { system: system?.[0]?.text ?? '', user: messages?.[0]?.content?.[0]?.text ?? '' };
    const { signal } = new AbortController();
    const answer = await answers({ ...asked, model: 'm', maxTokens: 1, signal });
    const content = [{ text: 'text' in answer ? answer.text : '' }];
    return { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage: { totalTokens: 1 } };
  };
  return createConverseModel({ send } as ConverseClient);
}

const clean = { qaReview: 'passed' } as const;
const adopted = { prompt: `Write.\n\n${additions.better}`, summary: 'It asks for more.' };

describe('a pass', () => {
  it('asks the model of each agent, with its prompt: one question, 20 runs and 40 choices', async () => {
    const changed = { improver: as(improver, { soul: 'Bold.' }), reviewer: as(reviewer, { model: 'r' }) };
    const { result, times, tookMs, waiting, asked } = await runTestPass(changed);
    expect(result).toEqual(adopted);
    expect([times(), tookMs, waiting]).toEqual([[1, 20, 40], 0, 0]);
    const systems = new Set(asked.map(({ step, model, system }) => `${step} ${model}: ${system}`));
    expect([...systems].sort()).toEqual([
      `choice r: ${reviewer.agent.systemPrompt}`,
      `proposal system.model: Bold.\n\n${improver.agent.systemPrompt}`,
      'run writer.model: Calm.\n\nWrite.',
      `run writer.model: Calm.\n\nWrite.\n\n${additions.better}`,
    ]);
  });

  it('sends limits of tokens whose sum is in the documentation, with thinking models and with others', async () => {
    const sumOfLimits = async (model: string) => {
      const limits: number[] = [];
      const agents = {
        prepared: as(learner, { model }),
        improver: as(improver, { model }),
        reviewer: as(reviewer, { model }),
      };
      const { result } = await runTestPass({ ...agents, through: (answers) => recordingLimits(answers, limits) });
      expect([result, limits.length]).toEqual([adopted, 61]);
      return grouped(limits.reduce((sum, limit) => sum + limit, 0));
    };
    const documented = readFileSync('docs/agents.md', 'utf8').replaceAll(/\s+/g, ' ');
    expect(/The answers of a pass have [^.]*\./.exec(documented)?.[0]).toBe(
      `The answers of a pass have at most ${await sumOfLimits('a-model')} tokens; with thinking models, thoughts and answers have at most ${await sumOfLimits(standardModel)}.`,
    );
  });

  it('has the texts of users only in the user message, and shows each choice in both orders', async () => {
    const prepared = as(learner, { systemPrompt: 'THE-PROMPT' });
    const input = { input: 'THE-INPUT', context: { key: 'THE-CONTEXT' } };
    const { asked } = await runTestPass({ prepared, focusArea: 'THE-FOCUS', readInput: async () => input });
    for (const { step, system, user } of asked) {
      expect(system).not.toMatch(/THE-(INPUT|CONTEXT|FOCUS)/);
      expect(system.includes('THE-PROMPT')).toBe(step === 'run');
      expect(user.includes('THE-PROMPT')).toBe(step === 'proposal');
      expect(user.includes('THE-FOCUS')).toBe(step === 'proposal');
      expect(user).toContain('THE-INPUT');
      expect(user.includes('THE-CONTEXT')).toBe(step !== 'proposal');
    }
    const choices = asked.filter(({ step }) => step === 'choice');
    const forwards = choices.filter(({ user }) => user.indexOf('chapter') < user.indexOf('It is so.'));
    expect([choices.length, forwards.length]).toEqual([40, 20]);
  });

  it('shows every second input to the improver and tries its edit on the others, those with troubles first', async () => {
    const executions = [finished('good', clean), finished('late'), finished('early'), finished('first')];
    const { asked, proof } = await runTestPass({ executions });
    const tried = asked.filter(({ step }) => step === 'run').map(({ user }) => user);
    expect([...new Set(tried)]).toEqual(['early', 'good'].map((id) => `<input>\nQuestion ${id}?\n</input>`));
    const { user } = asked[0] as Question;
    expect(user.match(/input: .*/g)).toEqual(['late', 'first'].map((id) => `input: Question ${id}?`));
    expect(user.match(/^- completed/gm)).toHaveLength(4);
    expect(proof.trials.map(({ executionId, heldOut }) => `${executionId} ${heldOut}`)).toEqual(
      Array.from({ length: 10 }, (_, nth) => `${nth % 2 === 0 ? 'early' : 'good'} true`),
    );
  });

  it('tries its edit on ten inputs that the improver does not see, if there are as many', async () => {
    const { proof, asked } = await runTestPass({
      executions: Array.from({ length: 20 }, (_, nth) => finished(`${nth}`)),
    });
    expect(new Set(proof.trials.map(({ executionId }) => executionId)).size).toBe(10);
    for (const { executionId } of proof.trials) expect(asked[0]?.user).not.toContain(`Question ${executionId}?`);
  });

  it('shows the inputs of five of a hundred executions', async () => {
    const { asked } = await runTestPass({ executions: Array.from({ length: 100 }, (_, nth) => finished(`${nth}`)) });
    const counts = [/^- completed/gm, /input: /g].map((pattern) => asked[0]?.user.match(pattern)?.length);
    expect(counts).toEqual([100, 5]);
  });

  it('tries one input ten times if there is only one, or the other was deleted', async () => {
    expect((await runTestPass({ executions: [finished('a')] })).times()).toEqual([1, 20, 40]);
    for (const deleted of ['a', 'b']) {
      const readInput = async ({ id }: { id: string }) => (id === deleted ? undefined : { input: 'There.' });
      const { result, times, proof } = await runTestPass({ readInput });
      expect([result, times()]).toEqual([adopted, [1, 20, 40]]);
      expect(proof.trials.every(({ heldOut }) => heldOut === (deleted === 'a'))).toBe(true);
    }
  });

  it('has as its proof the proposal, the answers of both prompts, the votes, and the tokens of all calls', async () => {
    const { proof } = await runTestPass({ says: { proposal: { ...proposes(additions.better), tokens: 7 } } });
    expect(proof).toMatchObject({ decision: 'adopted', tokensUsed: 7 });
    expect(proof.proposal).toEqual({ summary: 'It asks for more.', edit: { append: additions.better } });
    expect(proof.trials[0]).toMatchObject({
      ...{ executionId: 'b', input: { input: 'Question b?' }, heldOut: true },
      ...{ before: text('It is so.'), after: text('It is so: see chapter 2.'), votes: ['new', 'new', 'new', 'new'] },
    });
  });

  it.each<[string, Parameters<typeof runTestPass>[0]]>([
    ['with a focus learns from executions without troubles', { executions: [finished('a', clean)], focusArea: 'x' }],
    ['can improve an agent that is inactive', { prepared: as(learner, { status: 'inactive' }) }],
    ['can improve an agent that is a draft', { prepared: as(learner, { status: 'draft' }) }],
    ['can improve the improver', { prepared: improver }],
  ])('%s', async (_, options) => {
    expect((await runTestPass(options)).result).toMatchObject({ summary: adopted.summary, prompt: expect.any(String) });
  });
});

const noExecution = 'There is nothing to learn from: no execution has finished yet.';
const noTrouble = 'There is nothing to learn: the last 2 executions show no fault of the prompt.';
const notActive = (name: string) => `The agent ${name} is not active; set its status to active first.`;
const lost = finished('lost', { ...clean, status: 'failed', error: 'lost', durationMs: 90_000 });

it.each<[string, Parameters<typeof runTestPass>[0], string]>([
  ['without executions', { executions: [] }, noExecution],
  ['if all executions run', { executions: [finished('a', { status: 'running' })], focusArea: 'x' }, noExecution],
  ['without troubles', { executions: [finished('a', clean), finished('b', clean)] }, noTrouble],
  [
    'of a single execution without troubles',
    { executions: [finished('a', clean)] },
    'There is nothing to learn: the last execution shows no fault of the prompt.',
  ],
  ['without troubles but lost workers', { executions: [finished('a', clean), lost] }, noTrouble],
  ['without an improver', { improver: undefined }, notActive('prompt-improver')],
  ['with an inactive improver', { improver: as(improver, { status: 'inactive' }) }, notActive('prompt-improver')],
  ['without a reviewer', { reviewer: undefined }, notActive('qa-reviewer')],
  ['with a draft of a reviewer', { reviewer: as(reviewer, { status: 'draft' }) }, notActive('qa-reviewer')],
  ['of the reviewer itself', { prepared: reviewer }, 'The reviewer cannot verify a prompt of its own.'],
])('a pass %s asks no model', async (_, options, reason) => {
  const { result, asked, proof } = await runTestPass(options);
  expect([result, asked, proof.decision]).toEqual([{ reason }, [], 'not_started']);
});

const gone = 'There is nothing to try a proposal on: the recent executions are gone.';
const saying = (proposal: Says) => ({ says: { proposal } });

it.each<[Parameters<typeof runTestPass>[0], string]>([
  [saying(text('Be brief!')), 'The answer of the prompt improver could not be read as a proposal.'],
  [saying(text('{"summary":"It is fine."}')), 'No edit was proposed: It is fine.'],
  [saying(proposes(' ')), 'The proposal could not be used: its edit changes nothing.'],
  [{ readInput: async () => undefined }, gone],
])('a proposal that cannot be used is not tried (%#)', async (options, reason) => {
  const { result, times } = await runTestPass(options);
  expect([result, times()]).toEqual([{ reason }, [1, 0, 0]]);
});

describe('in fifty passes, no pass adopts an edit that', () => {
  const reasonsOf = async (says: Partial<Record<Step, Says>>, executions = [finished('a'), finished('b')]) => {
    const passes = await Promise.all(Array.from({ length: 50 }, () => runTestPass({ says, executions })));
    return [...new Set(passes.map(({ reason }) => reason))];
  };
  const notBetter = ['The proposal was not seen to do better: It asks for more.'];
  const worse = ['The proposal was seen to do worse: It asks for more.'];

  it.each(Object.entries(judges))('changes no answer, with the judge %s', async (_, choice) => {
    expect(await reasonsOf({ proposal: proposes(additions.idle), choice })).toEqual(notBetter);
  });

  it.each([
    ['fair', worse],
    ['first', notBetter],
    ['second', notBetter],
    ['neither', notBetter],
    ['unclear', notBetter],
  ] as const)('makes answers worse, with the judge %s', async (judge, reasons) => {
    expect(await reasonsOf({ proposal: proposes(additions.worse), choice: judges[judge] })).toEqual(reasons);
  });

  it('is better for one input and worse for the other', async () => {
    const run = ({ system, user }: Question) => {
      if (!system.includes(additions.better)) return text('It is so.');
      return text(user.includes(' a?') ? 'See chapter 2.' : 'It may be so.');
    };
    const executions = ['x', 'a', 'y', 'b'].map((id) => finished(id));
    expect(await reasonsOf({ run }, executions)).toEqual(notBetter);
  });
});

/** Four executions, of which the edit is tried on `a` and `b`. */
const four = ['x', 'a', 'y', 'b'].map((id) => finished(id));

it('an edit that is better for two inputs and changes nothing for the third is adopted', async () => {
  const run = ({ system, user }: Question) =>
    text(system.includes(additions.better) && !user.includes(' c?') ? 'See chapter 2.' : 'It is so.');
  const { result, times, proof } = await runTestPass({
    executions: [...four, finished('z'), finished('c')],
    says: { run },
  });
  expect([result, times()]).toEqual([adopted, [1, 20, 28]]);
  expect(proof.trials.filter(({ votes }) => votes.length === 0).map(({ executionId }) => executionId)).toEqual(
    Array(3).fill('c'),
  );
});

it('an edit that is better for only five of ten pairs is not adopted', async () => {
  const run = ({ system, user }: Question) =>
    text(system.includes(additions.better) && user.includes(' a?') ? 'See chapter 2.' : 'It is so.');
  const { reason, proof } = await runTestPass({ executions: four, says: { run } });
  expect([reason, proof.decision]).toEqual(['The proposal was not seen to do better: It asks for more.', 'not_better']);
});

/** How the reason begins when a step fails, and when the time of the step is over. */
const steps: [Step, string, number][] = [
  ['proposal', 'No edit was proposed.', 9_000],
  ['run', 'The proposal could not be tried.', 18_000],
  ['choice', 'The proposal could not be judged.', 24_000],
];
const noTime = 'There was no time left.';
const modelRefused: ModelAnswer = { kind: 'failed', error: 'The model refused to do this.', tokens: 1 };
const unreadable: ModelAnswer = { kind: 'faulty', error: 'The answer of the model could not be read.', tokens: 1 };
const throttled: ModelAnswer = { kind: 'throttled', tokens: 0 };

describe.each(steps)('a model that at the %s', (step, beginning, overAt) => {
  const saying = (says: Says) => runTestPass({ says: { [step]: says } });

  it.each([modelRefused, unreadable])('answers %j ends the pass at once with its error', async (answer) => {
    const { result, tookMs, waiting } = await saying(answer);
    const reason = `${beginning} ${'error' in answer && answer.error}`;
    expect([result, tookMs, waiting]).toEqual([{ reason }, 0, 0]);
  });

  it.each([
    ['is silent', silent],
    ['only throttles', throttled],
  ])('%s ends the pass when the time of the step is over', async (_, says) => {
    const { result, tookMs, waiting } = await saying(says);
    expect([result, tookMs, waiting]).toEqual([{ reason: `${beginning} ${noTime}` }, overAt, 0]);
  });

  it('throttles once is asked again within a second', async () => {
    let left = 1;
    const { result, tookMs } = await saying((question) => (left-- > 0 ? throttled : usual[step](question)));
    expect(result).toHaveProperty('prompt');
    expect(tookMs).toBeLessThanOrEqual(1_000);
  });
});

describe('of ten pairs', () => {
  /** Returns the answer `instead` to the first `count` questions that `isMeant`, and the usual answers to the others. */
  const first = (count: number, step: Step, instead: ModelAnswer, isMeant = (_: Question) => true): Says => {
    let left = count;
    return (question) => (isMeant(question) && left-- > 0 ? instead : usual[step](question));
  };
  const isNew = ({ system }: Question) => system.includes(additions.better);

  it.each([modelRefused, unreadable])('four without an answer of the old prompt are left out: %j', async (failed) => {
    const run = first(4, 'run', failed, (question) => !isNew(question));
    const { result, times, proof } = await runTestPass({ says: { run } });
    expect([result, times()]).toEqual([adopted, [1, 20, 24]]);
    expect(proof.trials.filter(({ before }) => before.kind === 'failed')).toHaveLength(4);
  });

  it('five without an answer of the old prompt end the pass with the error', async () => {
    const run = first(5, 'run', modelRefused, (question) => !isNew(question));
    const { reason, times } = await runTestPass({ says: { run } });
    expect([reason, times()]).toEqual(['The proposal could not be tried. The model refused to do this.', [1, 20, 0]]);
  });

  it('each without an answer of the new prompt alone has all votes for the old one', async () => {
    const decisions = [];
    for (const count of [1, 2, 6, 10]) {
      const { proof } = await runTestPass({ says: { run: first(count, 'run', modelRefused, isNew) } });
      decisions.push(proof.decision);
    }
    expect(decisions).toEqual(['adopted', 'not_better', 'worse', 'worse']);
  });

  it('each round with a missing choice does not count, also not the choice in the other order', async () => {
    const { result, proof } = await runTestPass({ says: { choice: first(1, 'choice', modelRefused) } });
    expect(result).toEqual(adopted);
    expect(proof.trials.map(({ votes }) => votes.length)).toEqual([2, ...Array(9).fill(4)]);
  });

  it('five without a choice end the pass with the error', async () => {
    const { reason } = await runTestPass({ says: { choice: first(20, 'choice', modelRefused) } });
    expect(reason).toBe('The proposal could not be judged. The model refused to do this.');
  });
});

describe('a pass with slow answers', () => {
  const justInTime = { proposal: 8_999, run: 8_999, choice: 5_999 };

  it('can use the time of every step', async () => {
    const { result, tookMs } = await runTestPass({ latencyMs: justInTime });
    expect(result).toHaveProperty('prompt');
    expect(tookMs).toBe(23_997);
  });

  it.each(steps)('at the %s ends when the time of that step is over', async (step, beginning, overAt) => {
    const { reason, tookMs } = await runTestPass({ latencyMs: { ...justInTime, [step]: 60_000 } });
    expect([reason, tookMs]).toEqual([`${beginning} ${noTime}`, overAt]);
  });

  it('asks nothing if the request began too long ago', async () => {
    const { reason, tookMs, asked } = await runTestPass({ lateMs: 9_000 });
    expect([reason, tookMs, asked]).toEqual([`No edit was proposed. ${noTime}`, 9_000, []]);
  });
});
