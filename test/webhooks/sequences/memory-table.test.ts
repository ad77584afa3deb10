import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { openLocalTable } from '../../../infra/local/table/local-table.ts';
import { fc, testSeed } from '../../seeded.ts';
import { runSequence } from './run.ts';
import { sequence } from './sequence.ts';
import { type SendVia, testTableName } from './world.ts';

/** The parts of an output or an error that the service reads. */
function readPartOf(answer: object): object {
  if (answer instanceof Error) {
    const { CancellationReasons } = answer as { CancellationReasons?: { Code: string }[] };
    return { name: answer.name, codes: CancellationReasons?.map(({ Code }) => Code) };
  }
  const { Item, Items, Attributes, Count, Responses, LastEvaluatedKey } = answer as Record<string, unknown>;
  const found = Object.values(Responses ?? {}).flat() as { pk: string; sk: string }[];
  const inOrder = found.toSorted((a, b) => (a.pk + a.sk < b.pk + b.sk ? -1 : 1));
  return { Item, Items, Attributes, Count, inOrder, LastEvaluatedKey };
}

/** Returns how to send commands to a table in memory and to one of the service, and the commands with different answers. */
function createMirror(): { via: SendVia; different: object[] } {
  const name = `test-${randomUUID()}`;
  const { client } = openLocalTable({ path: ':memory:', tableName: name, kinds: [] }).table;
  const different: object[] = [];
  const renamed = (command: { input: object }) => {
    const input = JSON.parse(JSON.stringify(command.input).replaceAll(`"${testTableName}"`, `"${name}"`));
    return Object.assign(Object.create(command), { input }) as never;
  };
  const outcomeOf = (send: () => object | Promise<object>) => Promise.try(send).catch((error: Error) => error);
  const via: SendVia = (table) => async (command) => {
    const theirs = await outcomeOf(() => client.send(renamed(command as { input: object })));
    const ours = await outcomeOf(() => table.send(command));
    if (!isDeepStrictEqual(readPartOf(ours), readPartOf(theirs)))
      different.push({ ...command, ours: readPartOf(ours), theirs: readPartOf(theirs) });
    if (ours instanceof Error) throw ours;
    return ours;
  };
  return { via, different };
}

it('a table in memory answers all commands of a sequence as that of the service does', async () => {
  for (const one of fc.sample(sequence, { seed: testSeed, numRuns: 5 })) {
    const { via, different } = createMirror();
    await runSequence(one, via);
    expect(different, JSON.stringify(one)).toEqual([]);
  }
});
