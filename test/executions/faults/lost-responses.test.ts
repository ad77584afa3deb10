import { describe, expect, it } from 'vitest';
import type { Table } from '../../../lib/table/access/client.ts';
import { noteLostResponse } from '../../../lib/table/access/lost-responses.ts';
import { readTokensToday } from '../../../lib/table/executions/running.ts';
import { dynamodbError } from '../../table/fixtures/dynamodb-errors.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { createTestExecutions, scriptedModel, text } from '../test-executions.ts';
import { checkExecutions, checkSplitting, splitting } from './killed.ts';

/** An execution of six steps sends fewer transactions than this, its end included. */
const transactions = 10;

const moments = ['before it is carried out', 'and its response is lost'] as const;

/** Creates executions in which one transaction of a worker fails: the one before which `left` are carried out. */
async function createFailing(when: (typeof moments)[number], capabilities: string[]) {
  const failing = { left: Number.POSITIVE_INFINITY, failed: 0 };
  const through = (table: Table): Table =>
    interceptTable(table, async (send, { input }) => {
      if (!('TransactItems' in input) || failing.left-- !== 0) return send();
      failing.failed++;
      const error = dynamodbError('InternalServerError');
      if (when === 'and its response is lost') {
        await send();
        noteLostResponse(error);
      }
      throw error;
    });
  const fixture = await createTestExecutions({ cap: 1_000, through });
  await fixture.update('writer', { capabilities });
  return { fixture, failing };
}

describe.each(moments)('if a transaction fails %s', (when) => {
  it('an execution of six steps does nothing twice', async () => {
    const { fixture, failing } = await createFailing(when, ['tasks.write']);
    for (let nth = 0; nth < transactions; nth++) {
      const { id: taskId } = await fixture.addTask();
      const message = await fixture.start({ taskId, input: `task ${nth}` });
      failing.left = nth;
      await fixture.finish(message, scriptedModel({ work: splitting }).tools);
      failing.left = Number.POSITIVE_INFINITY;
    }
    // The first step starts, six steps end; the execution ends.
    expect(failing.failed).toBe(8);
    const { executions, wrong } = await checkExecutions(fixture);
    expect([...wrong, ...(await checkSplitting(fixture, executions))]).toEqual([]);
    for (const { status, tokensUsed } of executions) expect([status, tokensUsed]).toEqual(['completed', 41]);
  });

  it.each([
    ['without tools', [], 3],
    ['with tools', ['tasks.write'], 2],
  ])('an agent %s counts every answer once, also of an execution that was cancelled', async (_, capabilities, most) => {
    const { fixture, failing } = await createFailing(when, capabilities);
    let answered = 0;
    for (const isCancelled of [true, false])
      for (let nth = 0; nth < 5; nth++) {
        const { id: taskId } = await fixture.addTask();
        const message = await fixture.start({ taskId });
        const { tools, times } = scriptedModel({
          work: async () => {
            if (isCancelled) await fixture.cancel(message);
            failing.left = nth;
            return text('Done.', 100);
          },
          // After the verdict of the other gate is stored, so only the end stores its tokens.
          qaReview: async ({ signal }) => {
            await fixture.timeline.pause(1_000, signal);
            return text('VERDICT: PASS', 1);
          },
        });
        await fixture.finish(message, tools);
        failing.left = Number.POSITIVE_INFINITY;
        const tokensUsed = 100 + 10 * times('selfTest') + times('qaReview');
        answered += tokensUsed;
        expect(await fixture.execution(message)).toMatchObject({ tokensUsed });
      }
    // The write of the answer, and the end or the late count of its tokens.
    expect(failing.failed).toBeGreaterThanOrEqual(most);
    expect((await checkExecutions(fixture)).wrong).toEqual([]);
    expect(await readTokensToday(fixture, fixture.organization, fixture.clock())).toBe(answered);
  });
});
