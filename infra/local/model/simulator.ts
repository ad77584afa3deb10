import { setTimeout as timer } from 'node:timers/promises';
import { namedModels } from '../../../lib/contract/models.ts';
import { verdictLine } from '../../../lib/executions/prompts.ts';
import type { LocalModel, Reply, Request } from './converse-client.ts';
import type { Rule } from './model-script.ts';

/** What the simulator is opened with. */
export type Simulation = {
  /** The model of agents that name none. It answers for this one, those that its rules name, and all that the project names. */
  defaultModel: string;
  /** How long each answer takes, in milliseconds, where no rule says otherwise. */
  latencyMs: number;
  /** In this order; the first that is for a question says what comes of it. */
  rules: readonly Rule[];
  /** Waits these milliseconds, and throws as soon as the signal aborts. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
};

/** How much of a question is quoted, in code points. */
const quoted = 200;

/** A model that is none: it answers by rules, else by saying so. */
export function openSimulator({ defaultModel, latencyMs, rules, sleep = wait }: Simulation): LocalModel {
  // Agents of an earlier version have its default model.
  const models = new Set([defaultModel, ...namedModels, ...rules.map(({ model }) => model)]);
  const scripted = rules.map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY }));
  return async (request, signal) => {
    if (!models.has(request.model))
      return { kind: 'error', name: 'ValidationException', message: 'The provided model identifier is invalid.' };
    const found = scripted.find(({ rule, left }) => left > 0 && isFor(rule, request));
    if (found) found.left -= 1;
    const delayMs = found?.rule.delayMs ?? latencyMs;
    if (delayMs > 0) await sleep(delayMs, signal);
    return found ? scriptedReply(found.rule, request) : ownReply(request);
  };
}

const wait = (milliseconds: number, signal: AbortSignal) => timer(milliseconds, undefined, { signal });

const isFor = ({ model, match, system }: Rule, request: Request) =>
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

function ownReply(request: Request): Reply {
  if (request.user.includes(verdictLine)) return answer(request, 'VERDICT: PASS');
  const words = [...request.user.replace(/\s+/g, ' ').trim()];
  const start = words.slice(0, quoted).join('');
  return answer(
    request,
    `This is Crewboard's built-in simulator and not a model; nothing has been done. It was asked: "${start}${words.length > quoted ? '…' : ''}"`,
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

/** About four characters a token, as in English. */
const estimated = (text: string) => Math.ceil(text.length / 4);
