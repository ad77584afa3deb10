import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { vi } from 'vitest';
import { unitsOf } from '../table/capacity.ts';
import { type Usage, usage } from './usage.ts';

/** A command of any client; its input goes to the engine as it is by then. */
type Command = { input: Record<string, unknown> };
type Send = (command: Command) => Promise<never>;

/** What a function has waited is in each line, in as many digits as it happened to take; every line counts as one of these. */
const anyDuration = [/"durationMs":[\d.]+/g, '"durationMs":10.5'] as const;

/**
 * Watches what the functions of this process ask of AWS and write into their logs. They open their clients themselves,
 * so it is the clients' class that is watched; the key of KMS, for which there is no engine here, is played.
 */
export function startMeter() {
  let [used, roundsEnded] = [usage({}), 0];
  const clients = { table: DynamoDBDocumentClient, queues: SQSClient };
  const send = Object.fromEntries(
    Object.entries(clients).map(([name, { prototype }]) => [name, prototype.send as unknown as Send]),
  ) as Record<keyof typeof clients, Send>;

  const inTable = async function (this: unknown, command: Command) {
    const round = roundsEnded + 1;
    used.requests += 1;
    used.rounds = Math.max(used.rounds, round);
    command.input.ReturnConsumedCapacity = 'INDEXES';
    try {
      const output = await send.table.call(this, command);
      for (const [unit, count] of Object.entries(unitsOf(command.constructor.name, output)))
        used[unit as 'rcu' | 'wcu' | 'indexWcu'] += count;
      return output;
    } catch (error) {
      // A condition that fails takes the units of the item that it looks at, and no engine tells of it: here at least one.
      if (error instanceof ConditionalCheckFailedException) used.wcu += 1;
      throw error;
    } finally {
      roundsEnded = Math.max(roundsEnded, round);
    }
  };
  const toQueues = async function (this: unknown, command: Command) {
    used.sends += 1;
    return send.queues.call(this, command);
  };
  const withKey = async (command: unknown) => {
    used.keyUses += 1;
    if (command instanceof EncryptCommand) return { CiphertextBlob: command.input.Plaintext };
    return { Plaintext: (command as DecryptCommand).input.CiphertextBlob };
  };
  const intoLog = (text: string | Uint8Array) => {
    const written = String(text).replace(...anyDuration);
    used.logLines += written.match(/\n/g)?.length ?? 0;
    used.logBytes += Buffer.byteLength(written);
    return true;
  };
  vi.spyOn(DynamoDBDocumentClient.prototype, 'send').mockImplementation(inTable as never);
  vi.spyOn(SQSClient.prototype, 'send').mockImplementation(toQueues as never);
  vi.spyOn(KMSClient.prototype, 'send').mockImplementation(withKey as never);
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockImplementation(intoLog);

  return {
    /** What an action takes. One at a time. */
    async usageOf(action: () => Promise<unknown>): Promise<Usage> {
      [used, roundsEnded] = [usage({}), 0];
      await action();
      return used;
    },
  };
}
