import type { Model } from '../model/converse.ts';
import { meterTokens } from './meter.ts';

/**
 * Returns the model, and a function that does work with it and then writes a metric of the tokens: a log line for each model
 * that answered, whatever becomes of the work. The tokens of a call that was aborted are not known, and not counted.
 */
export function meteredModel(model: Model): {
  model: Model;
  metering: <Result>(work: () => Promise<Result>) => Promise<Result>;
} {
  const used = new Map<string, number>();
  return {
    model: async (question) => {
      const answer = await model(question);
      used.set(question.model, (used.get(question.model) ?? 0) + answer.tokens);
      return answer;
    },
    metering: async (work) => {
      try {
        return await work();
      } finally {
        for (const [name, tokens] of used) meterTokens(name, tokens);
        used.clear();
      }
    },
  };
}
