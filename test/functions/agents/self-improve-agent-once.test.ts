import { beforeEach, describe, expect, it } from 'vitest';
import type { Question } from '../../../lib/model/converse.ts';
import { errorOf } from '../../api.ts';
import { additions, proposes, usual } from '../../improvements/learning-model.ts';
import type { Answer } from '../../service.ts';
import { agentOf } from './test-agents.ts';
import { createTestImprovements, type ImprovementsApi, improvementOf } from './test-improvements.ts';

const { bedrock, newImprovementsApi, teach } = await createTestImprovements();
let api: ImprovementsApi;
beforeEach(async () => {
  api = await newImprovementsApi();
});

const headers = { 'Idempotency-Key': 'key' };
const improve = (body?: unknown) => api.improve(body, { headers });
const replayed = (answer: Answer) => answer.headers['Idempotency-Replayed'] === 'true';
const codeOf = (answer: Answer) => [answer.status, errorOf(answer)?.code];
const writer = async () => agentOf(await api.agents.get('writer'));

/** Makes the models wait with the proposal until the test calls `goOn`. */
function held() {
  const [reached, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const proposal = async (question: Question) => {
    reached.resolve();
    await answered.promise;
    return usual.proposal(question);
  };
  return { asked: teach({ proposal }), reached: reached.promise, goOn: answered.resolve };
}

describe('a pass under an Idempotency-Key', () => {
  it.each([
    ['improved the prompt', additions.better, true],
    ['kept the prompt', additions.idle, false],
  ])('that %s gets the same response again, calls no model and changes nothing', async (_, addition, improved) => {
    teach({ proposal: proposes(addition) });
    const first = await improve();
    expect([first.status, replayed(first), improvementOf(first).improved]).toEqual([200, false, improved]);
    const [before, calls] = [await api.dump(), bedrock.received.length];
    const again = await improve();
    expect([again.status, replayed(again), again.body]).toEqual([200, true, first.body]);
    expect([await api.dump(), bedrock.received.length]).toEqual([before, calls]);
  });

  it('that was rejected leaves the key free', async () => {
    const { reached, goOn } = held();
    const other = api.improve();
    await reached;
    await api.refuses(improve, 409, 'improvement_in_progress');
    goOn();
    expect((await other).status).toBe(200);
    const answer = await improve();
    expect([answer.status, replayed(answer)]).toEqual([200, false]);
  });
});

it('of two concurrent passes without a key, one succeeds and one is rejected', async () => {
  const { reached, goOn } = held();
  const first = api.improve();
  await reached;
  expect(codeOf(await api.improve())).toEqual([409, 'improvement_in_progress']);
  goOn();
  expect(improvementOf(await first).improved).toBe(true);
  expect((await writer()).systemPrompt).toBe(`Write.\n\n${additions.better}`);
});
