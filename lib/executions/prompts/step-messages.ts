import type { ExecutionStep, MessagePart, StepMessage } from '../../contract/executions/steps.ts';
import { codePoints } from '../../contract/texts/code-points.ts';
import { timingsOf, unstoredCalls } from '../../table/executions/execution-items.ts';
import type { StoredConversation } from '../../table/executions/step-list.ts';
import { longestShownBytes, type ModelStep, type ToolStep } from '../../table/executions/steps.ts';
import { startInBytes } from '../../table/text-parts.ts';
import { invalidMessageNote, judgedPartsOf, selfTestPrompt, sentPartsOf } from './execution-prompts.ts';

/** Returns a part of a message as steps show it: its start, and its length if it is longer. */
export function partOf(text: string): MessagePart {
  const start = startInBytes(text, longestShownBytes);
  return start === text ? { text } : { text: start, length: codePoints(text) };
}

/** Returns steps of an execution, each call of a model with the messages that it received. */
export function withMessages(conversation: StoredConversation, steps: readonly ExecutionStep[]): ExecutionStep[] {
  const messages = new Map([...storedMessages(conversation), ...unstoredMessages(conversation)]);
  return steps.map((step) => {
    const received = messages.get(step.number);
    return received ? { ...step, messages: received } : step;
  });
}

/** The messages of a call of a model, by the number of its step. */
type Numbered = [step: number, messages: StepMessage[]];

/** Returns the messages of the calls that are stored as steps. */
function storedMessages(conversation: StoredConversation): Numbered[] {
  const { head, steps } = conversation;
  const numbered: Numbered[] = [];
  let before: { model: ModelStep; tools: ToolStep[] } | undefined;
  for (const step of steps) {
    if (step.kind === 'tool') {
      before?.tools.push(step);
      continue;
    }
    // A step that has not ended has what the worker gives to models that stored its start.
    const number = step.durationMs === undefined ? head.received : step.received;
    const first = firstMessages(conversation, number);
    if (first) {
      const isNew = before?.model.received !== number;
      numbered.push([step.number, [...(isNew ? first : first.slice(0, 1)), ...(before ? exchangeOf(before) : [])]]);
    }
    before = { model: step, tools: [] };
  }
  return numbered;
}

/** Returns the system message and the first user message of a conversation; `undefined` if they are not known. */
function firstMessages({ input, received }: StoredConversation, number: number | undefined): StepMessage[] | undefined {
  const given = number === undefined ? undefined : received.get(number);
  if (!given) return undefined;
  return [
    { role: 'system', promptHash: given.promptHash },
    { role: 'user', parts: [...given.parts, ...sentPartsOf(input).map(partOf)] },
  ];
}

/** Returns the messages that follow a call of a model in the next one, as `turnsOf` has them. */
function exchangeOf({ model, tools }: { model: ModelStep; tools: ToolStep[] }): StepMessage[] {
  if (model.content === undefined) return [{ role: 'user', parts: [partOf(invalidMessageNote(model.error ?? ''))] }];
  return [
    { role: 'assistant', step: model.number },
    ...tools.map(({ number }): StepMessage => ({ role: 'tool', step: number })),
  ];
}

/** Returns the messages of the calls without a stored step: the call of an agent without tools, and the calls of the gates. */
function unstoredMessages(conversation: StoredConversation): Numbered[] {
  const { head, output, received } = conversation;
  const timings = timingsOf(head);
  return unstoredCalls(head).flatMap((call, at): Numbered[] => {
    const number = timings[call]?.received;
    const [system, user] = firstMessages(conversation, number) ?? [];
    const step = (head.steps ?? 0) + at + 1;
    if (!system || !user) return [];
    if (call === 'model') return [[step, [system, user]]];
    // The output of an execution that failed is deleted.
    if (output === undefined) return [];
    const { reviewerHash } = received.get(number as number) ?? {};
    const judge: StepMessage =
      call === 'selfTest'
        ? { role: 'system', parts: [partOf(selfTestPrompt)] }
        : { role: 'system', ...(reviewerHash !== undefined && { promptHash: reviewerHash }) };
    const parts = [...(user.parts ?? []), ...judgedPartsOf(output).map(partOf)];
    return [[step, [judge, { role: 'user', parts }]]];
  });
}
