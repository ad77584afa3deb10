import type { MessagePart } from '../../contract/executions/steps.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { type Key, keys } from '../access/keys.ts';
import type { Item } from '../access/write.ts';

/**
 * What a worker gives to the models of an execution, besides its input and context, its output and its steps, which are
 * stored with it. The other parts are read from items that change: the agents, the task, its dependencies and its comments.
 */
export type Received = {
  /** The hash of the system prompt of the agent. */
  promptHash: string;
  /** The hash of the system prompt of the reviewer, if one judges the output. */
  reviewerHash?: string;
  /** The parts of the user message before the context and the input. */
  parts: MessagePart[];
};

/** What a worker gives to models, and its number: the number of an earlier worker if it gave the same. */
export type Noted = { number: number; received: Received };

type Reference = { organization: Organization; id: string };

/** Returns the key of what a worker gave to models. */
export function receivedKey({ organization, id }: Reference, number: number): Key {
  return keys.executionReceived(organization, ulidOf(id), number);
}

/** Returns the item of what a worker gives to models. */
export function receivedItem(execution: Reference, { number, received: { parts, ...hashes } }: Noted): Item {
  return { ...receivedKey(execution, number), ...hashes, parts: JSON.stringify(parts) };
}

/** Returns what an item of `receivedItem` stores. */
export function notedFrom({ sk, promptHash, reviewerHash, parts }: Item): Noted {
  return {
    number: Number((sk as string).slice('RC#'.length)),
    received: {
      promptHash: promptHash as string,
      ...(reviewerHash !== undefined && { reviewerHash: reviewerHash as string }),
      parts: JSON.parse(parts as string) as MessagePart[],
    },
  };
}
