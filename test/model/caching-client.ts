import type { ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import type { ConverseClient } from '../../lib/model/converse.ts';

/** The tokens of a question, as Bedrock reports them. */
type Usage = {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  cacheReadInputTokens: number;
  cacheWriteInputTokens: number;
};

/** The minimum number of tokens before a cache point: the minimum of most Claude models. */
const leastTokens = 1_024;

/** How many blocks before a cache point Bedrock looks for an earlier one. */
const lookback = 20;

/** The tokens of each answer. */
export const outputTokens = 50;

/**
 * Creates a client that counts tokens as Bedrock does with prompt caching, four characters each: `inputTokens` are
 * neither read from the cache nor written to it. The cache is empty at first and keeps all that is written.
 *
 * @param calls returns how many tools the nth answer calls, counted from 0; none for a text
 */
export function createCachingClient(calls: (nth: number) => number): { client: ConverseClient; usages: Usage[] } {
  const cache = new Set<string>();
  const usages: Usage[] = [];
  const send = async ({ input: { toolConfig, system = [], messages = [] } }: ConverseCommand) => {
    const blocks = [...(toolConfig?.tools ?? []), ...system, ...messages.flatMap(({ content = [] }) => content)];
    const usage = { ...usageOf(blocks, cache), outputTokens };
    const number = calls(usages.length);
    const { inputTokens, cacheReadInputTokens, cacheWriteInputTokens } = usage;
    usages.push({ ...usage, totalTokens: inputTokens + cacheReadInputTokens + cacheWriteInputTokens + outputTokens });
    const toolUses = Array.from({ length: number }, (_, at) => ({
      toolUse: { toolUseId: `tooluse_${usages.length}_${at}`, name: 'get_task', input: { id: 'tk_1' } },
    }));
    return {
      output: { message: { role: 'assistant', content: [{ text: 'I go on.' }, ...toolUses] } },
      stopReason: number > 0 ? 'tool_use' : 'end_turn',
      usage: usages.at(-1),
    };
  };
  return { client: { send } as unknown as ConverseClient, usages };
}

/** Returns the input tokens of a request, and adds what it writes to the cache. */
function usageOf(blocks: readonly object[], cache: Set<string>) {
  let text = '';
  let [read, upToPoint] = [0, 0];
  const prefixes: string[] = [];
  const points: string[] = [];
  for (const block of blocks) {
    if (!('cachePoint' in block)) {
      text += JSON.stringify(block);
      prefixes.push(text);
    } else if (tokensOf(text) >= leastTokens) {
      const found = prefixes.slice(-lookback).findLast((prefix) => cache.has(prefix)) ?? '';
      read = Math.max(read, tokensOf(found));
      upToPoint = tokensOf(text);
      points.push(text);
    }
  }
  for (const point of points) cache.add(point);
  return {
    inputTokens: tokensOf(text) - upToPoint,
    cacheReadInputTokens: read,
    cacheWriteInputTokens: upToPoint - read,
  };
}

const tokensOf = (text: string) => Math.ceil(text.length / 4);
