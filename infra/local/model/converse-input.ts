import * as v from 'valibot';
import { rejectsTextBesideTools, supportsPromptCache } from '../../../lib/contract/agents/models.ts';
import { ServerMembers } from '../../../lib/model/turns.ts';
import type { BedrockError } from './bedrock-errors.ts';

/** Bedrock rejects blank text outside of the results of tools. */
const Text = v.strictObject({ text: v.pipe(v.string(), v.regex(/\S/)) });
const CachePoint = v.strictObject({ cachePoint: v.strictObject({ type: v.literal('default') }) });
const JsonObject = v.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const ToolName = v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/));
const ToolUseId = v.pipe(v.string(), v.regex(/^[\w.:-]{1,64}$/));

const ToolUse = v.strictObject({
  toolUse: v.strictObject({ toolUseId: ToolUseId, name: ToolName, input: JsonObject }),
});

const ToolResult = v.strictObject({
  toolResult: v.strictObject({
    toolUseId: ToolUseId,
    content: v.pipe(v.array(v.strictObject({ text: v.string() })), v.nonEmpty()),
    status: v.optional(v.picklist(['success', 'error'])),
  }),
});

/** Thoughts of the model, which Bedrock accepts only with their signature, or encrypted. */
const Reasoning = v.strictObject({
  reasoningContent: v.union([
    v.strictObject({
      reasoningText: v.strictObject({ text: v.string(), signature: v.pipe(v.string(), v.nonEmpty()) }),
    }),
    v.strictObject({ redactedContent: v.instance(Uint8Array) }),
  ]),
});

/** What a server of the chat protocol gets again. Bedrock has no such block. */
const OfServer = v.strictObject({ serverMembers: ServerMembers });

const Block = v.union([Text, ToolUse, ToolResult, Reasoning, OfServer, CachePoint]);
type Block = v.InferOutput<typeof Block>;

const Message = v.strictObject({
  role: v.picklist(['user', 'assistant']),
  content: v.pipe(v.array(Block), v.nonEmpty()),
});

/** A message of a request. */
export type Message = v.InferOutput<typeof Message>;

/** A schema of input. Claude rejects these keywords at its top, and other names of properties. */
const InputSchema = v.pipe(
  JsonObject,
  v.check(({ type }) => type === 'object'),
  v.check((schema) => !['oneOf', 'anyOf', 'allOf'].some((keyword) => keyword in schema)),
  v.check(({ properties = {} }) => Object.keys(properties as object).every((name) => /^[\w.-]{1,64}$/.test(name))),
);

const ToolSpec = v.strictObject({
  toolSpec: v.strictObject({
    name: ToolName,
    description: v.pipe(v.string(), v.nonEmpty()),
    inputSchema: v.strictObject({ json: InputSchema }),
  }),
});

/**
 * The fields of a request of Converse that the service sends. All other fields are rejected, so that no test relies on
 * ignored ones.
 */
export const ConverseInput = v.strictObject({
  modelId: v.string(),
  system: v.optional(
    v.pipe(
      v.array(v.union([Text, CachePoint])),
      v.check((blocks) => blocks[0] !== undefined && 'text' in blocks[0]),
    ),
  ),
  messages: v.pipe(v.array(Message), v.nonEmpty()),
  inferenceConfig: v.strictObject({ maxTokens: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
  outputConfig: v.optional(v.strictObject({ effort: v.literal('low') })),
  toolConfig: v.optional(
    v.strictObject({
      tools: v.pipe(
        v.array(v.union([ToolSpec, CachePoint])),
        v.check((tools) => tools[0] !== undefined && 'toolSpec' in tools[0]),
      ),
    }),
  ),
});

type ConverseInput = v.InferOutput<typeof ConverseInput>;

/** The maximum number of cache points of a request. */
const maxCachePoints = 4;

/** Returns the error of a request whose fields do not fit together, with the words of Bedrock; `undefined` if they do. */
export function inputError(input: ConverseInput): { name: BedrockError; message: string } | undefined {
  const rejected = (message: string) => ({ name: 'ValidationException' as const, message });
  const points = pointsOf(input);
  if (points > maxCachePoints)
    return rejected(`A maximum of ${maxCachePoints} blocks with cachePoint may be provided.`);
  if (points > 0 && !supportsPromptCache(input.modelId))
    return {
      name: 'AccessDeniedException',
      message: 'You invoked an unsupported model or your request did not allow prompt caching.',
    };
  const message = wrongMessage(input) ?? wrongTools(input);
  return message === undefined ? undefined : rejected(message);
}

const isPoint = (block: object) => 'cachePoint' in block;

const pointsOf = ({ system = [], messages, toolConfig }: ConverseInput) =>
  [...system, ...(toolConfig?.tools ?? []), ...messages.flatMap(({ content }) => content as object[])].filter(isPoint)
    .length;

function wrongTools({ messages, toolConfig }: ConverseInput): string | undefined {
  const hasToolBlocks = messages.some(({ content }) =>
    content.some((block) => 'toolUse' in block || 'toolResult' in block),
  );
  if (hasToolBlocks && !toolConfig)
    return 'The toolConfig field must be defined when using toolUse and toolResult content blocks.';
  const names = (toolConfig?.tools ?? []).flatMap((tool) => ('toolSpec' in tool ? [tool.toolSpec.name] : []));
  if (new Set(names).size < names.length) return 'The toolConfig field has two tools with the same name.';
  return undefined;
}

/** Returns what is wrong with the order of messages, or of the blocks in a message. */
function wrongMessage({ modelId, messages }: ConverseInput): string | undefined {
  const requestedIds = messages.map(({ content }) =>
    content.flatMap((block) => ('toolUse' in block ? [block.toolUse.toolUseId] : [])),
  );
  if (messages.at(-1)?.role !== 'user') return 'A conversation must end with a user message.';
  for (const [at, { role, content }] of messages.entries()) {
    const where = `messages.${at}.content`;
    if (role !== (at % 2 === 0 ? 'user' : 'assistant'))
      return `${where}: Roles must alternate, and begin with the user.`;
    if (isPoint(content[0] as Block)) return `${where}: A cachePoint must follow another block.`;
    const ofOtherRole =
      role === 'user' ? ['toolUse', 'reasoningContent', 'serverMembers'] : ['toolResult', 'cachePoint'];
    if (content.some((block) => ofOtherRole.some((kind) => kind in block)))
      return `${where}: A block is of the other role.`;
    const hasTools = content.some((block) => 'toolUse' in block || 'toolResult' in block);
    if (hasTools && content.some((block) => 'text' in block) && rejectsTextBesideTools(modelId))
      return `${where}: Conversation blocks and tool blocks cannot be provided in the same turn.`;
    const ids = content.flatMap((block) => ('toolResult' in block ? [block.toolResult.toolUseId] : []));
    const requested = role === 'user' ? (requestedIds[at - 1] ?? []) : [];
    const own = requestedIds[at] as string[];
    if (new Set(own).size < own.length) return `${where}: toolUse blocks must have different ids.`;
    if (ids.length !== requested.length || requested.some((id) => !ids.includes(id)))
      return `${where}: Expected toolResult blocks for the following ids: ${requested.join(', ')}.`;
  }
  return undefined;
}
