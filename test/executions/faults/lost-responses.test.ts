import { expect, it } from 'vitest';
import type { Table } from '../../../lib/table/client.ts';
import { noteLostResponse } from '../../../lib/table/lost-responses.ts';
import { dynamodbError } from '../../table/fixtures/dynamodb-errors.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { createTestExecutions, scriptedModel } from '../test-executions.ts';
import { checkExecutions, checkSplitting, splitting } from './killed.ts';

/** An execution of six steps sends fewer transactions than this, its end included. */
const transactions = 10;

it.each(['before it is carried out', 'and its response is lost'])(
  'an execution of six steps does nothing twice if a transaction fails %s',
  async (when) => {
    let left = Number.POSITIVE_INFINITY;
    let failed = 0;
    const failing = (table: Table): Table =>
      interceptTable(table, async (send, { input }) => {
        if (!('TransactItems' in input) || left-- !== 0) return send();
        failed++;
        const error = dynamodbError('InternalServerError');
        if (when === 'and its response is lost') {
          await send();
          noteLostResponse(error);
        }
        throw error;
      });
    const fixture = await createTestExecutions({ cap: 1_000, stream: true, through: failing });
    await fixture.update('writer', { capabilities: ['tasks.write'] });
    for (let nth = 0; nth < transactions; nth++) {
      const { id: taskId } = await fixture.addTask();
      const message = await fixture.start({ taskId, input: `task ${nth}` });
      left = nth;
      await fixture.finish(message, scriptedModel({ work: splitting }).tools);
      left = Number.POSITIVE_INFINITY;
    }
    // The first step starts; six steps end; the execution ends.
    expect(failed).toBe(8);
    const { executions, wrong } = await checkExecutions(fixture);
    expect([...wrong, ...(await checkSplitting(fixture, executions))]).toEqual([]);
    for (const { status, tokensUsed } of executions) expect([status, tokensUsed]).toEqual(['completed', 41]);
  },
);
