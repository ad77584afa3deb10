import { setTimeout as timer } from 'node:timers/promises';
import { namedModels } from '../../../lib/contract/models.ts';
import { verdictLine } from '../../../lib/executions/prompts.ts';
import type { LocalModel, Reply, Request } from './converse-client.ts';
import type { Rule } from './model-script.ts';

/** The options of a simulator. */
export type SimulatorOptions = {
  /** The default model of agents. The simulator accepts it, the models of its rules, and all models that the project names. */
  defaultModel: string;
  /** The latency of each answer in milliseconds, unless a rule sets another. */
  latencyMs: number;
  /** Rules are tried in order; the first match answers. */
  rules: readonly Rule[];
  /** Waits for a time in milliseconds, and throws when the signal aborts. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
};

/** How many code points of a prompt an answer quotes. */
const quotedLength = 200;

/** Creates a simulated model: it answers by rules, or by a text that says that it is a simulator. */
export function createSimulator({ defaultModel, latencyMs, rules, sleep = wait }: SimulatorOptions): LocalModel {
  // `namedModels` contains the default models of earlier versions, which agents may still have.
  const models = new Set([defaultModel, ...namedModels, ...rules.map(({ model }) => model)]);
  const scripted = rules.map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY }));
  return async (request, signal) => {
    if (!models.has(request.model))
      return { kind: 'error', name: 'ValidationException', message: 'The provided model identifier is invalid.' };
    const found = scripted.find(({ rule, left }) => left > 0 && matches(rule, request));
    if (found) found.left -= 1;
    const delayMs = found?.rule.delayMs ?? latencyMs;
    if (delayMs > 0) await sleep(delayMs, signal);
    return found ? scriptedReply(found.rule, request) : standardReply(request);
  };
}

const wait = (milliseconds: number, signal: AbortSignal) => timer(milliseconds, undefined, { signal });

const matches = ({ model, match, system }: Rule, request: Request) =>
  (model === undefined || model === request.model) &&
  match(request.user) &&
  (system === undefined || system(request.system));

function scriptedReply(
  { text, throttle, error, malformed, refusal, stopReason, tokens }: Rule,
  request: Request,
): Reply {
  if (throttle) return { kind: 'error', name: 'ThrottlingException' };
  if (error) return { kind: 'error', name: error };
  if (malformed) return { kind: 'malformed' };
  const reply = answer(request, text ?? 'The simulator stops here.', stopReason ?? (refusal ? 'refusal' : 'end_turn'));
  if (tokens === undefined) return reply;
  const input = Math.min(reply.tokens.input, tokens);
  return { ...reply, tokens: { input, output: tokens - input } };
}

function standardReply(request: Request): Reply {
  if (request.user.includes(verdictLine)) return answer(request, 'VERDICT: PASS');
  const characters = [...request.user.replace(/\s+/g, ' ').trim()];
  const start = characters.slice(0, quotedLength).join('');
  return answer(
    request,
    `This is Crewboard's built-in simulator and not a model; nothing has been done. It was asked: "${start}${characters.length > quotedLength ? '…' : ''}"`,
  );
}

function answer({ system, user }: Request, text: string, stopReason = 'end_turn') {
  return {
    kind: 'answer' as const,
    text,
    stopReason,
    tokens: { input: estimated(system) + estimated(user), output: estimated(text) },
  };
}

/** Estimates a number of tokens: four characters each, as in English text. */
const estimated = (text: string) => Math.ceil(text.length / 4);
