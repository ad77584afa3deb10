import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { isNested } from '../contract/depth.ts';

/** A JSON object. */
type Json = Record<string, unknown>;

/** The members of `params` that are optional in some message. */
const optionalMembers = ['_meta', 'arguments', 'cursor'];

/**
 * Returns a message without the optional parameters that are null, as some clients send parameters that are not set. The arguments
 * of a tool stay as they are, but a prompt has no argument that is null.
 */
export function withoutNulls(message: unknown): unknown {
  if (!isObject(message) || !('params' in message)) return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (!isObject(params)) return message;
  const sent = without(params, (name) => optionalMembers.includes(name));
  const { arguments: given } = sent;
  const isPrompt = message.method === 'prompts/get' && isObject(given);
  return { ...message, params: { ...sent, ...(isPrompt && { arguments: without(given as Json, () => true) }) } };
}

/** Returns an object without the members of these names that are null. */
function without(object: Json, isOptional: (name: string) => boolean): Json {
  return Object.fromEntries(Object.entries(object).filter(([name, value]) => value !== null || !isOptional(name)));
}

/** Returns which parameter of a request is no object although it must be one; `undefined` for other messages. */
export function notAnObject(message: unknown): string | undefined {
  if (!isObject(message) || typeof message.method !== 'string' || message.id === undefined) return undefined;
  const { params } = message;
  if (params === undefined) return undefined;
  if (!isObject(params)) return 'params';
  return params._meta === undefined || isObject(params._meta) ? undefined : 'params._meta';
}

/** The words for the types of parameters in messages of the SDK. */
const types: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

/**
 * Returns a response of the SDK with a sentence for a wrong parameter, and the code for it: the SDK has the problems of its
 * schema library as JSON in the message, and for most methods the code of an internal error.
 *
 * @param text the response as JSON
 */
export function withSentence(text: string): string {
  if (!text.includes('"error"')) return text;
  const response = JSON.parse(text) as { error?: { message?: unknown } };
  const [, json = ''] = /(\[\s*\{.*\])\s*$/s.exec(String(response.error?.message)) ?? [];
  const problem = firstProblem(json);
  if (!problem) return text;
  return JSON.stringify({
    ...response,
    error: { code: ProtocolErrorCode.InvalidParams, message: sentenceOf(problem) },
  });
}

type Problem = { path: string[]; expected?: string; message: string };

function firstProblem(json: string): Problem | undefined {
  try {
    const [first] = JSON.parse(json) as Problem[];
    return first && Array.isArray(first.path) ? first : undefined;
  } catch {
    return undefined;
  }
}

function sentenceOf({ path, expected = '', message }: Problem): string {
  const [name, type] = [path.join('.'), types[expected]];
  if (!type) return `${name} is not valid: ${message}.`;
  return message.endsWith('undefined') ? `${name} is required; send ${type}.` : `${name} must be ${type}.`;
}

function isObject(value: unknown): value is Json {
  return isNested(value) && !Array.isArray(value);
}
