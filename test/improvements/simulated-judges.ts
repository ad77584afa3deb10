import { newSystemAgents } from '../../lib/agents/system-agents.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import { evidenceOf } from '../../lib/improvements/evidence.ts';
import { improvementPass } from '../../lib/improvements/improvement-pass.ts';
import type { Model } from '../../lib/model/converse.ts';
import type { PreparedAgent } from '../../lib/table/agents/prepared-agents.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { text } from '../executions/test-executions.ts';
import { randomFrom } from '../soak/random.ts';
import { storedAgent } from '../table/agents/agent-seed.ts';
import { completed, runningExecution } from '../table/executions/execution-table.ts';
import { additions, proposes, stepOf } from './learning-model.ts';

/** The edit that a pass proposes: one that makes each answer better, or one that has no effect. */
export type Planted = 'better' | 'idle';

/**
 * A judge that makes random errors.
 *
 * - `accuracy`: how often it chooses the answer that it should choose, in each question anew.
 * - `taste`: which one it should choose if both answers are equally good: the answer that it prefers in both orders, for a
 *   reason that has nothing to do with the edit; or, without taste, either of them.
 */
export type SimulatedJudge = { accuracy: number; taste: boolean };

/** Returns a model whose answers all differ. The answers of a better prompt name a chapter. */
function simulatedModel(planted: Planted, { accuracy, taste }: SimulatedJudge, random: () => number): Model {
  const choose = (user: string) => {
    const [, first = '', second = ''] =
      /<answer-1>\n(.*)\n<\/answer-1>\n\n<answer-2>\n(.*)\n<\/answer-2>/s.exec(user) ?? [];
    const merit = Number(second.includes('chapter')) - Number(first.includes('chapter'));
    // Each answer has a random number, which stands for all that makes a judge prefer one of two equal answers.
    const preferred = merit !== 0 ? merit > 0 : taste ? second > first : random() < 0.5;
    return preferred === random() < accuracy ? 2 : 1;
  };
  return async (question) => {
    const { system, user } = question;
    switch (stepOf(question)) {
      case 'proposal':
        return proposes(additions[planted]);
      case 'choice':
        return text(`BETTER: ${choose(user)}`, Math.ceil((system.length + user.length) / 4));
      case 'run':
        return text(`${random().toFixed(12)}${system.includes(additions.better) ? ' in chapter 2.' : ' is so.'}`);
    }
  };
}

const fresh = (agent: PreparedAgent['agent']): PreparedAgent => ({ agent, skills: [] });
const [reviewer, improver] = newSystemAgents(() => ulidOf(storedAgent().id), 'some.model').map(fresh);
const prepared = fresh(storedAgent({ systemPrompt: 'Write.' }));
const executions = Array.from(
  { length: 20 },
  (_, nth): ExecutionHead => ({
    ...{ ...runningExecution({ id: `ex_${nth}` }), ...completed({ qaReview: 'failed' }) },
  }),
);
const material = {
  ...{ prepared, improver, reviewer, focusArea: undefined },
  readInput: async ({ id }: ExecutionHead) => ({ input: `Question ${id}?` }),
};

/**
 * Runs passes whose edit is planted, and returns how many of them adopt it.
 *
 * @param inputs the number of finished executions; with few of them, the prompts answer each input several times
 */
export async function adoptionsOf(
  planted: Planted,
  judge: SimulatedJudge,
  passes: number,
  seed: number,
  inputs = executions.length,
): Promise<number> {
  const tools = { model: simulatedModel(planted, judge, randomFrom(seed)), catalogue: [] };
  const context = { clock: () => 0, pause: () => new Promise<void>(() => {}) };
  const evidence = evidenceOf(executions.slice(0, inputs));
  let adopted = 0;
  for (let pass = 0; pass < passes; pass++) {
    const { decision } = await improvementPass(
      context,
      { ...material, evidence, begin: async () => {}, spend: () => {} },
      tools,
      0,
    );
    if (decision === 'adopted') adopted++;
  }
  return adopted;
}
