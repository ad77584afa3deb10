import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { deleteAgent } from '../../lib/agents/agents.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { carryOutPurge } from '../../lib/executions/purges.ts';
import type { RunningExecution } from '../../lib/table/execution-items.ts';
import { Lost } from '../../lib/table/execution-steps.ts';
import { openExecutionStore } from '../../lib/table/executions.ts';
import { keys } from '../../lib/table/keys.ts';
import { dumpOf } from '../table-dump.ts';
import { always } from './board.ts';
import { conditionFailed, conflict } from './dynamodb-errors.ts';
import { at, completed, type ExecutionBoard, lease, openExecutionBoard } from './execution-board.ts';
import { type DynamoDBMock, mockTable } from './mock-table.ts';

let board: ExecutionBoard;
beforeEach(async () => {
  board = await openExecutionBoard();
});

const dump = () => dumpOf(board.table, board.organization);
const due = async () => (await Array.fromAsync(board.executions.due('9999'))).map(({ dueAt }) => dueAt);

describe('a claim', () => {
  it('gives the execution as it is now, under a lease, counted, and listed for the end of that', async () => {
    const execution = await board.start();
    const claimed = await board.executions.claim(execution, lease('first'));
    expect(claimed).toEqual({ ...execution, claims: 1, claim: 'first', leaseUntil: at(30), firstLeasedAt: at(0) });
    expect(await board.executions.head(execution)).toEqual(claimed);
    expect(await due()).toEqual([at(30)]);
  });

  it('gives nothing before the lease of another has run out, and counts nothing', async () => {
    const execution = await board.claimed();
    const before = await dump();
    expect(await board.executions.claim(execution, lease('second', 29.999))).toBeUndefined();
    expect(await dump()).toEqual(before);
  });

  it('is had by the next when the lease has run out, counted again', async () => {
    const execution = await board.claimed();
    const second = await board.executions.claim(execution, lease('second', 30));
    expect(second).toEqual({ ...execution, claims: 2, claim: 'second', leaseUntil: at(60) });
  });

  it('leaves the time of the first lease as it is, and notes one for an execution that has none', async () => {
    const execution = await board.claimed();
    const second = await board.executions.claim(execution, lease('second', 30));
    expect(second?.firstLeasedAt).toBe(at(0));
    await board.executions.table.client.send(
      new UpdateCommand({
        TableName: board.table.name,
        Key: keys.executionHead(execution.organization, ulidOf(execution.id)),
        UpdateExpression: 'REMOVE firstLeasedAt',
      }),
    );
    const third = await board.executions.claim(execution, lease('third', 60));
    expect(third?.firstLeasedAt).toBe(at(60));
  });

  it('is had by one of many who come at once', async () => {
    const execution = await board.start();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const claims = await Promise.all(names.map((name) => board.executions.claim(execution, lease(name))));
    const [winner, ...more] = claims.filter((one) => one !== undefined);
    expect(more).toEqual([]);
    expect(await board.executions.head(execution)).toEqual({ ...winner, claims: 1 });
  });

  it.each([
    ['that has ended', async (execution: RunningExecution) => board.executions.end(execution, completed(), {})],
    ['whose agent was purged', async () => purged()],
  ])('of an execution %s gives nothing and puts nothing back', async (_, happens) => {
    const execution = await board.claimed();
    await happens(execution);
    const before = await dump();
    expect(await board.executions.claim(execution, lease('second', 9999))).toBeUndefined();
    expect(await dump()).toEqual(before);
  });

  it('of an execution that never was gives nothing and makes none', async () => {
    const before = await dump();
    expect(await board.executions.claim(board.newExecution(), lease('first'))).toBeUndefined();
    expect(await dump()).toEqual(before);
  });

  describe('whose answer was lost', () => {
    /** The item that a claim leaves behind. */
    const left = (claim: string) => ({
      ...{ pk: 'O#org#X#01KE0000000000000000000004', sk: 'M', kind: 'execution', status: 'running' },
      ...{ claim, claims: 1, leaseUntil: at(30), dueAt: at(30), due: 'execution' },
    });
    const reference = { organization: 'org' as Organization, id: 'ex_01KE0000000000000000000004' };
    const claimFrom = (prepare: (dynamodb: DynamoDBMock) => void) => {
      const { table, dynamodb } = mockTable();
      prepare(dynamodb);
      return openExecutionStore(table, 1).claim(reference, lease('first'));
    };

    it('is known again by its own second try', async () => {
      const got = await claimFrom((dynamodb) => dynamodb.rejects(conditionFailed(left('first'))));
      expect(got).toMatchObject({ id: reference.id, claim: 'first', claims: 1, leaseUntil: at(30) });
    });

    it('is not taken for that of another', async () => {
      for (const found of [left('other'), undefined])
        expect(await claimFrom((dynamodb) => dynamodb.rejects(conditionFailed(found)))).toBeUndefined();
    });

    it('is tried again after a conflict', async () => {
      const got = await claimFrom((dynamodb) =>
        dynamodb
          .on(UpdateCommand)
          .rejectsOnce(conflict())
          .resolvesOnce({ Attributes: left('first') }),
      );
      expect(got?.claim).toBe('first');
    });
  });
});

describe('a renewal', () => {
  it('holds on to the execution and moves its overdue moment, and nothing else', async () => {
    const execution = await board.claimed();
    await board.executions.renew(execution, at(45));
    expect(await board.executions.head(execution)).toEqual({ ...execution, leaseUntil: at(45) });
    expect(await due()).toEqual([at(45)]);
    expect(await board.executions.claim(execution, lease('second', 44.999))).toBeUndefined();
  });

  it('comes through as long as nobody else has it, even late', async () => {
    const execution = await board.claimed();
    await board.executions.renew(execution, at(100));
    expect(await board.executions.claim(execution, lease('second', 99))).toBeUndefined();
  });

  it.each([
    ['another has in hand', (execution: RunningExecution) => board.executions.claim(execution, lease('second', 30))],
    ['has ended', (execution: RunningExecution) => board.executions.end(execution, completed(), {})],
    ['was purged with its agent', () => purged()],
  ])('of an execution that %s is refused, and changes nothing', async (_, happens) => {
    const execution = await board.claimed();
    await happens(execution);
    const before = await dump();
    await expect(board.executions.renew(execution, at(60))).rejects.toThrow(Lost);
    expect(await dump()).toEqual(before);
  });
});

async function purged(): Promise<void> {
  const { app, organization, agent } = board;
  await deleteAgent(app, organization, agent.name, always);
  await carryOutPurge(app, { organization, agentId: agent.id });
}
