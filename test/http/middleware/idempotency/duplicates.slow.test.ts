import { beforeEach, describe, expect, it } from 'vitest';
import { endpoints } from '../../../../lib/contract/endpoints.ts';
import { statusAndCodeOf } from '../../../api.ts';
import { runKillable } from '../../../killable.ts';
import type { Answer } from '../../../service.ts';
import type { TableRequest } from '../../../table/fixtures/table-protocol.ts';
import { recordsKey, runTogether } from '../../../table/fixtures/table-server.ts';
import { posts } from './cases.ts';
import { createTenants, type Request, type Tenant } from './tenant.ts';

const { newTenant, engine, hold } = await createTenants();
const inProgress = [409, 'request_in_progress'];
const replayed = ({ headers }: Answer) => headers['Idempotency-Replayed'] === 'true';

const recordsAnswer = (asked: TableRequest) => recordsKey(asked) && asked.json.includes('"answer"');

let tenant: Tenant;
let request: Request;

beforeEach(async () => {
  tenant = await newTenant();
});

describe.each(posts)('%s', (operation, one) => {
  const send = () => tenant.send(operation, request, { key: 'key' });
  const once = async () => expect(new Set(await one.counts(tenant, request))).toEqual(new Set([1]));
  const ten = () => Array.from({ length: 10 }, send);

  beforeEach(async () => {
    request = await one.prepare(tenant);
  });

  /** Sends the request, and kills the worker before or after a request to the table. */
  function dieAt(moment: 'before' | 'after', at: (asked: TableRequest) => boolean) {
    return runKillable(async ({ die }) => {
      engine[moment] = (asked: TableRequest) => {
        if (!at(asked)) return undefined;
        engine.reset();
        die();
        return new Promise(() => {});
      };
      await send();
    });
  }

  if ('callsOut' in endpoints[operation]) {
    it('calls out once for ten concurrent duplicates; the others get request_in_progress, and later the same response', async () => {
      const { reached, goOn } = hold();
      runTogether(engine, 10, recordsKey);
      const waiting: Answer[] = [];
      const all = ten().map(async (sent) => {
        const answer = await sent;
        waiting.push(answer);
        if (waiting.length === 9) goOn();
        return answer;
      });
      await reached;
      const answers = await Promise.all(all);
      expect(waiting.slice(0, 9).map(statusAndCodeOf)).toEqual(Array(9).fill(inProgress));
      const [first] = answers.filter(({ status }) => status === 200);
      expect(first && replayed(first)).toBe(false);
      expect((await send()).body).toEqual(first?.body);
      await once();
    });
  } else {
    it('is carried out once for ten concurrent duplicates, which all get the same response', async () => {
      runTogether(engine, 10, recordsKey);
      const answers = await Promise.all(ten());
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(endpoints[operation].status));
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(answers.filter(replayed)).toHaveLength(9);
      await once();
    });

    it('is carried out when it is sent again if its worker was killed before the first write', async () => {
      expect(await dieAt('before', recordsKey)).toBe('dead');
      const answer = await send();
      expect([answer.status, replayed(answer)]).toEqual([endpoints[operation].status, false]);
      await once();
    });
  }

  it('gets its response when it is sent again if its worker was killed between the write and the response', async () => {
    expect(await dieAt('after', recordsAnswer)).toBe('dead');
    const again = await send();
    expect([again.status, replayed(again)]).toEqual([endpoints[operation].status, true]);
    expect((await send()).body).toEqual(again.body);
    await once();
  });

  it('gets the response of its duplicate, even if the state has changed since then so that it would fail', async () => {
    // The duplicate is carried out after this request has found no record and before it reads the state.
    let first: Answer | undefined;
    engine.after = async ({ action, json }: TableRequest) => {
      if (action !== 'GetItem' || !json.includes('#I#')) return;
      engine.reset();
      first = await send();
      await one.close?.(tenant, request);
    };
    const answer = await send();
    expect([answer.status, answer.body, replayed(answer)]).toEqual([first?.status, first?.body, true]);
  });
});
