import { newSystemAgents } from '../../lib/agents/system-agents.ts';
import { evidenceOf } from '../../lib/improvements/evidence.ts';
import { improvementPass, type PassMaterial } from '../../lib/improvements/improvement-pass.ts';
import type { Model } from '../../lib/model/converse.ts';
import type { StoredAgent } from '../../lib/table/agent-items.ts';
import type { ExecutionHead } from '../../lib/table/execution-items.ts';
import type { PreparedAgent } from '../../lib/table/prepared-agents.ts';
import { createTimeline } from '../executions/timeline.ts';
import { storedAgent } from '../table/agent-seed.ts';
import { learningModel, type Says, type Step, stepOf } from './learning-model.ts';

/** When every pass begins. */
const opening = Date.UTC(2026, 0, 1);

const fresh = (agent: StoredAgent): PreparedAgent => ({ agent, skills: [] });
const [reviewer, improver] = newSystemAgents(() => storedAgent().id.slice('ag_'.length), 'system.model').map(fresh) as [
  PreparedAgent,
  PreparedAgent,
];

export { improver, reviewer };
export const learner = fresh(storedAgent({ systemPrompt: 'Write.', soul: 'Calm.', model: 'writer.model' }));

/** An agent that is told something else of itself. */
export const as = (prepared: PreparedAgent, fields: Partial<StoredAgent>): PreparedAgent => ({
  ...prepared,
  agent: { ...prepared.agent, ...fields },
});

/** A finished execution that did not pass the review, unless it says what else. */
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

/** What a pass has looked at and heard. */
type Given = Partial<Omit<PassMaterial, 'evidence'>> & {
  executions?: readonly ExecutionHead[];
  says?: Partial<Record<Step, Says>>;
  /** How long an answer takes. */
  latencyMs?: Record<Step, number>;
  /** How long it was under way before. */
  lateMs?: number;
};

/** Makes a pass under a time of its own: what it has come to, how long that took, and what the model was asked. */
export async function passed({
  executions = [finished('a'), finished('b')],
  says,
  latencyMs,
  lateMs = 0,
  ...more
}: Given = {}) {
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
