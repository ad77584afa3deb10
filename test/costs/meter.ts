import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { SQSClient } from '@aws-sdk/client-sqs';
import { vi } from 'vitest';
import type { Table } from '../../lib/table/access/client.ts';
import { unitsOf } from '../table/fixtures/capacity.ts';
import { startRounds } from '../table/fixtures/rounds.ts';
import { type Usage, usage } from './usage.ts';

/** A command of any client. The meter changes its input before it is sent. */
type Command = { input: Record<string, unknown> };
type Send = (command: Command) => Promise<never>;

/** The duration in a line of the log, whose number of digits differs from run to run, and its replacement. */
const anyDuration = [/"durationMs":[\d.]+/g, '"durationMs":10.5'] as const;

/**
 * Counts the requests of this process's functions to AWS, and the bytes of their logs. The functions create the clients of
 * queues, so the class is spied on. KMS has no engine here and is mocked.
 */
export function startMeter({ client }: Table) {
  let [used, round] = [usage({}), 1];
  const endOfRound = startRounds(() => {
    round += 1;
  });
  const send = { table: client.send as unknown as Send, queues: SQSClient.prototype.send as unknown as Send };

  const inTable = async function (this: unknown, command: Command) {
    const held = endOfRound();
    used.requests += 1;
    used.rounds = Math.max(used.rounds, round);
    command.input.ReturnConsumedCapacity = 'INDEXES';
    try {
      const output = await send.table.call(this, command);
      for (const [unit, count] of Object.entries(unitsOf(command.constructor.name, output)))
        used[unit as 'rcu' | 'wcu' | 'indexWcu'] += count;
      return output;
    } catch (error) {
      // A failed condition takes the units of its item, which the table does not report: here at least one.
      if (error instanceof ConditionalCheckFailedException) used.wcu += 1;
      throw error;
    } finally {
      await held();
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
  vi.spyOn(client, 'send').mockImplementation(inTable as never);
  vi.spyOn(SQSClient.prototype, 'send').mockImplementation(toQueues as never);
  vi.spyOn(KMSClient.prototype, 'send').mockImplementation(withKey as never);
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockImplementation(intoLog);

  return {
    /** Returns the usage of an action. One at a time. */
    async usageOf(action: () => Promise<unknown>): Promise<Usage> {
      [used, round] = [usage({}), 1];
      await action();
      return used;
    },
  };
}
