import type { Model } from '../model/converse.ts';
import { meterTokens } from './meter.ts';

/** Returns the model with a metric of its tokens. The tokens of a call that was aborted are not known, and not counted. */
export function meteredModel(model: Model): Model {
  return async (question) => {
    const answer = await model(question);
    meterTokens(question.model, answer.tokens);
    return answer;
  };
}
