import { choiceQuestion } from '../../lib/improvements/improvement-prompts.ts';
import type { Model, ModelAnswer, Question } from '../../lib/model/converse.ts';
import { text } from '../executions/test-executions.ts';
import { testSeed } from '../seeded.ts';
import { randomFrom } from '../soak/random.ts';

/** The kinds of questions that a pass asks a model. */
export type Step = 'proposal' | 'run' | 'choice';

/** The answer of a model to a question of a pass, or a function that returns one. */
export type Says = ModelAnswer | ((question: Question) => ModelAnswer | Promise<ModelAnswer>);

/** The answers at some steps. */
export type Script = Partial<Record<Step, Says>>;

const endOfChoice = choiceQuestion({ input: '' }, '', '').split('\n').at(-1) as string;

export function stepOf({ user }: Question): Step {
  if (user.startsWith('<prompt>\n')) return 'proposal';
  return user.endsWith(endOfChoice) ? 'choice' : 'run';
}

/** Proposes an addition. */
export const proposes = (append: string, summary = 'It asks for more.'): ModelAnswer =>
  text(JSON.stringify({ summary, append }));

/** An addition that makes answers better, one that makes them worse, and one that changes none. */
export const additions = { better: 'Name your source.', worse: 'You may guess.', idle: 'Be yourself.' };

/** Answers by the addition in the system prompt. */
const run = ({ system }: Question): ModelAnswer => {
  if (system.includes(additions.better)) return text('It is so: see chapter 2.');
  return text(system.includes(additions.worse) ? 'It may be so.' : 'It is so.');
};

const better = (place: number) => text(`I looked at both.\nBETTER: ${place === 0 ? 'NEITHER' : place}`);

const worthOf = (answer = ''): number => (answer.includes('chapter') ? 2 : answer.includes('may') ? 0 : 1);

const random = randomFrom(testSeed);

/** Judges that choose the better answer, a fixed place, a random place, or none. */
export const judges = {
  fair: ({ user }: Question): ModelAnswer => {
    const [, first, second] = /<answer-1>\n(.*)\n<\/answer-1>\n\n<answer-2>\n(.*)\n<\/answer-2>/s.exec(user) ?? [];
    const merit = worthOf(second) - worthOf(first);
    return better(merit === 0 ? 0 : merit > 0 ? 2 : 1);
  },
  first: (): ModelAnswer => better(1),
  second: (): ModelAnswer => better(2),
  random: (): ModelAnswer => better(random() < 0.5 ? 1 : 2),
  neither: (): ModelAnswer => better(0),
  unclear: (): ModelAnswer => text('BETTER: 2\nBETTER: 1'),
};

/** Proposes a good edit, follows its system prompt and judges fairly. */
export const usual: Record<Step, (question: Question) => ModelAnswer> = {
  proposal: () => proposes(additions.better),
  run,
  choice: judges.fair,
};

/** Creates a model that gives the usual answers, except at the steps in `says`. */
export function learningModel(says: Script = {}) {
  const script = { ...usual, ...says };
  const asked: (Question & { step: Step })[] = [];
  const model: Model = async (question) => {
    const step = stepOf(question);
    asked.push({ ...question, step });
    const said: Says = script[step];
    return typeof said === 'function' ? said(question) : said;
  };
  /** Returns the number of questions of each step. */
  const times = () => ['proposal', 'run', 'choice'].map((step) => asked.filter((one) => one.step === step).length);
  return { tools: { model, catalogue: [] }, asked, times };
}
