import { newSystemAgents } from '../../lib/agents/system-agents.ts';
import { evidenceOf } from '../../lib/improvements/evidence.ts';
import { improvementPass, type PassMaterial } from '../../lib/improvements/improvement-pass.ts';
import type { Model } from '../../lib/model/converse.ts';
import type { StoredAgent } from '../../lib/table/agents/agent-items.ts';
import type { PreparedAgent } from '../../lib/table/agents/prepared-agents.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { createTimeline } from '../executions/timeline.ts';
import { storedAgent } from '../table/agents/agent-seed.ts';
import { learningModel, type Says, type Step, stepOf } from './learning-model.ts';

/** The start time of every pass. */
const opening = Date.UTC(2026, 0, 1);

const fresh = (agent: StoredAgent): PreparedAgent => ({ agent, skills: [] });
const [reviewer, improver] = newSystemAgents(() => storedAgent().id.slice('ag_'.length), 'system.model').map(fresh) as [
  PreparedAgent,
  PreparedAgent,
];

export { improver, reviewer };
export const learner = fresh(storedAgent({ systemPrompt: 'Write.', soul: 'Calm.', model: 'writer.model' }));

/** Returns a prepared agent with changed fields. */
export const as = (prepared: PreparedAgent, fields: Partial<StoredAgent>): PreparedAgent => ({
  ...prepared,
  agent: { ...prepared.agent, ...fields },
});

/** Returns a completed execution with a failed review; `fields` replaces fields. */
export const finished = (id: string, fields: Partial<ExecutionHead> = {}): ExecutionHead =>
  ({
    id,
    status: 'completed',
    durationMs: 1_000,
    tokensUsed: 10,
    selfTest: 'passed',
    qaReview: 'failed',
    ...fields,
  }) as ExecutionHead;

/** The options of a pass. */
type PassOptions = Partial<Omit<PassMaterial, 'evidence'>> & {
  executions?: readonly ExecutionHead[];
  says?: Partial<Record<Step, Says>>;
  /** The duration of an answer at each step. */
  latencyMs?: Record<Step, number>;
  /** The time between the start of the request and the start of the pass. */
  lateMs?: number;
};

/** Runs a pass on its own timeline. Returns the result, the duration, and the questions to the model. */
export async function runTestPass({
  executions = [finished('a'), finished('b')],
  says,
  latencyMs,
  lateMs = 0,
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
  const material = { prepared: learner, improver, reviewer, focusArea: undefined, readInput, ...more };
  const result = await timeline.finish(
    improvementPass(timeline, { ...material, evidence: evidenceOf(executions) }, { model, catalogue: [] }, opening),
  );
  const reason = 'reason' in result ? result.reason : undefined;
  return { result, reason, tookMs: clock() - opening, waiting: timeline.waiting(), ...scripted };
}
