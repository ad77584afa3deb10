import type { ContentBlock, Message, ToolConfiguration, ToolInputSchema } from '@aws-sdk/client-bedrock-runtime';
import * as v from 'valibot';
import { hasResultStatus, rejectsTextBesideTools } from '../contract/agents/models.ts';
import { isDeeper, isNested, maxDepth } from '../contract/depth.ts';

/** A tool that a model may call. `inputSchema` is a JSON Schema of an object. */
export type ToolDefinition = { name: string; description: string; inputSchema: Record<string, unknown> };

/** A call of a tool that a model requests. `input` is `undefined` if the arguments were no JSON object, or nested too deep. */
export type ToolCall = { id: string; name: string; input: Record<string, unknown> | undefined };

/** The result of a call: JSON or plain text. */
export type ToolResult = { id: string; output: string; isError: boolean };

/**
 * One exchange: the message of the model as it was received (JSON of its content blocks, bytes as base64), and the
 * results of its calls; or, without content, a note to the model that its message could not be read.
 */
export type Turn = { content: string; results: ToolResult[] } | { note: string };

/** A message of a model: its blocks for a `Turn`, its text, and its calls. */
type ReadMessage = { content: string; text: string; calls: ToolCall[] };

const Members = v.record(v.string(), v.unknown());

/**
 * Members of a message of a server of the OpenAI chat protocol that the service does not know, such as thoughts and their
 * signatures: the members of the message, and the members of each of its calls. The next request to the same server repeats them.
 */
export const ServerMembers = v.object({ server: v.string(), message: Members, calls: v.array(Members) });
export type ServerMembers = v.InferOutput<typeof ServerMembers>;

/** The blocks that a message of a model can have in the next request. Blocks of other kinds are ignored. */
const Block = v.object({
  text: v.optional(v.string()),
  toolUse: v.optional(
    v.object({ toolUseId: v.pipe(v.string(), v.nonEmpty()), name: v.string(), input: v.optional(v.unknown()) }),
  ),
  reasoningContent: v.optional(
    v.object({
      reasoningText: v.optional(v.object({ text: v.string(), signature: v.optional(v.string()) })),
      redactedContent: v.optional(v.instance(Uint8Array)),
    }),
  ),
  serverMembers: v.optional(ServerMembers),
});

type Block = v.InferOutput<typeof Block>;

/** A block as JSON, as Bedrock sends it: bytes are base64. */
type StoredBlock = Omit<Block, 'reasoningContent'> & {
  reasoningContent?: Omit<NonNullable<Block['reasoningContent']>, 'redactedContent'> & { redactedContent?: string };
};

/** A JSON value in the types of the client. */
type Json = ToolInputSchema.JsonMember['json'];

/** The place after which Bedrock caches the request up to there. */
export const cachePoint = { cachePoint: { type: 'default' } } as const;

/** What the model reads instead of a blank result: Bedrock rejects blank text in most places. */
const blankOutput = '(empty)';

/** The maximum nesting depth of the arguments of a call: the depth of a free-form member, and the arguments themselves. */
const maxInputDepth = maxDepth + 1;

/** What the model reads instead of arguments that cannot be used. */
const tooDeep = `(nested more than ${maxInputDepth} levels deep)`;
const tooLarge = '(a number beyond ±9,007,199,254,740,991; send it as a string)';

/** The longest name of a tool, in characters. */
const longestName = 64;

/**
 * Reads the content of a message that can request tools.
 *
 * @returns `undefined` if it is not in the format of Converse
 */
export function readMessage(content: unknown): ReadMessage | undefined {
  const read = v.safeParse(v.array(Block), content);
  if (!read.success) return undefined;
  const blocks = read.output
    .filter((block) => Object.keys(block).length > 0)
    .map(({ toolUse, ...block }) => ({
      ...block,
      ...(toolUse && { toolUse: { ...toolUse, name: withoutTail(toolUse.name), input: usable(toolUse.input) } }),
    }));
  const calls = blocks.flatMap(({ toolUse }) => (toolUse ? [callOf(toolUse)] : []));
  if (new Set(calls.map(({ id }) => id)).size < calls.length) return undefined;
  return {
    content: JSON.stringify(blocks.map(storedBlock)),
    text: blocks.map(({ text }) => text ?? '').join(''),
    calls,
  };
}

/** Returns the name of a tool without control tokens of the model behind it, as in `list_tasks<|channel|>commentary`. */
const withoutTail = (name: string) => name.replace(/<\|.*$/s, '').trim() || name;

const callOf = ({ toolUseId, name, input }: NonNullable<Block['toolUse']>): ToolCall => ({
  id: toolUseId,
  name,
  input: inputOf(input),
});

/**
 * Returns the arguments of a call: an object, the JSON of one, or nothing, which some models send for a tool without
 * parameters. Arguments that are nested too deep would overflow the stack of functions that use them, and a number beyond the
 * safe ones may have been changed by the parser.
 */
function inputOf(input: unknown): ToolCall['input'] {
  if (input === undefined || input === null) return {};
  if (isDeeper(input, maxInputDepth) || hasLargeNumber(input)) return undefined;
  if (typeof input === 'object') return Array.isArray(input) ? undefined : (input as Record<string, unknown>);
  if (typeof input !== 'string') return undefined;
  if (input.trim() === '') return {};
  try {
    const parsed: unknown = JSON.parse(input);
    return typeof parsed === 'object' && parsed !== null ? inputOf(parsed) : undefined;
  } catch {
    return undefined;
  }
}

function storedBlock({ reasoningContent, ...block }: Block): StoredBlock {
  if (!reasoningContent) return block;
  const { redactedContent: bytes, ...reasoning } = reasoningContent;
  return {
    ...block,
    reasoningContent: { ...reasoning, ...(bytes && { redactedContent: Buffer.from(bytes).toString('base64') }) },
  };
}

/**
 * Returns the messages of a question: the user message, then for each turn the message of the model and the results of
 * its calls. The roles alternate, which Bedrock requires, so a note belongs to the message before it.
 *
 * @param server the server that gets the members of its messages again; `undefined` for Bedrock
 */
export function messagesOf(model: string, user: string, turns: readonly Turn[], server?: string): Message[] {
  let last: ContentBlock[] = [{ text: user }];
  const messages: Message[] = [{ role: 'user', content: last }];
  for (const turn of turns) {
    if ('note' in turn) addNote(model, last, turn.note);
    else {
      last = turn.results.map((result) => resultBlock(model, result));
      const blocks = JSON.parse(turn.content) as StoredBlock[];
      messages.push({ role: 'assistant', content: blocks.flatMap((block) => sentBlocks(model, block, server)) });
      messages.push({ role: 'user', content: last });
    }
  }
  return messages;
}

function resultBlock(model: string, { id, output, isError }: ToolResult): ContentBlock {
  const text = output.trim() === '' ? blankOutput : output.toWellFormed();
  const status = hasResultStatus(model) && { status: isError ? ('error' as const) : ('success' as const) };
  return { toolResult: { toolUseId: id, content: [{ text }], ...status } };
}

function addNote(model: string, content: ContentBlock[], note: string): void {
  const result = content.at(-1)?.toolResult;
  if (result?.content && rejectsTextBesideTools(model)) result.content.push({ text: note });
  else content.push({ text: note });
}

/**
 * Returns a block of a message of the model as the next request can have it. Bedrock rejects some blocks that it has
 * sent: blank texts, thoughts without a signature, input that is not an object, and invalid names of tools.
 */
function sentBlocks(
  model: string,
  { text, toolUse, reasoningContent, serverMembers }: StoredBlock,
  server: string | undefined,
): ContentBlock[] {
  if (serverMembers) return serverMembers.server === server ? [{ serverMembers } as unknown as ContentBlock] : [];
  if (toolUse) {
    const { toolUseId, name, input } = toolUse;
    return [{ toolUse: { toolUseId, name: sentName(name), input: sentInput(input) } }];
  }
  const { reasoningText, redactedContent } = reasoningContent ?? {};
  if (redactedContent !== undefined)
    return [{ reasoningContent: { redactedContent: new Uint8Array(Buffer.from(redactedContent, 'base64')) } }];
  if (reasoningText) return reasoningText.signature ? [{ reasoningContent: { reasoningText } }] : [];
  return text !== undefined && text.trim() !== '' && !rejectsTextBesideTools(model) ? [{ text }] : [];
}

const sentName = (name: string) => name.replace(/[^\w-]/g, '_').slice(0, longestName) || 'unknown';

const sentInput = (input: unknown) => (inputOf(input) ?? { invalid: usable(input) }) as Json;

/**
 * Returns the input of a call as JSON has it, or a note instead of one that JSON cannot have. The client of Bedrock returns
 * whole numbers beyond the safe ones as `bigint`, and other numbers with many digits as objects of a class of its own.
 */
function usable(input: unknown): unknown {
  if (isDeeper(input, maxInputDepth)) return tooDeep;
  return hasLargeNumber(input) ? tooLarge : plain(input);
}

function hasLargeNumber(value: unknown): boolean {
  if (typeof value === 'number')
    return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
  return typeof value === 'bigint' || (isNested(value) && Object.values(value).some(hasLargeNumber));
}

function plain(value: unknown): unknown {
  if (!isNested(value)) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (![Object.prototype, null].includes(Object.getPrototypeOf(value))) return Number(String(value));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

/** Returns the configuration of tools. A cache point after them caches them for all agents with the same tools. */
export function toolConfigOf(tools: readonly ToolDefinition[], isCached: boolean): ToolConfiguration {
  const specs = tools.map(({ name, description, inputSchema }) => ({
    toolSpec: {
      name,
      description,
      inputSchema: { json: inputSchema as Json },
    },
  }));
  return { tools: [...specs, ...(isCached ? [cachePoint] : [])] };
}

/**
 * Adds a cache point to the last two messages of the user: the last one writes the conversation to the cache, and the
 * one before it is where the previous request wrote, which this request reads. Bedrock itself finds an earlier place
 * only up to 20 blocks back, and a turn with many calls has more.
 */
export function addCachePoints(messages: readonly Message[]): void {
  const users = messages.filter(({ role }) => role === 'user');
  for (const { content } of users.slice(-2)) content?.push(cachePoint);
}
