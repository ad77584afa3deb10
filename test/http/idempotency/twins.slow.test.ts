import { beforeEach, describe, expect, it, vi } from 'vitest';
import { endpoints } from '../../../lib/contract/endpoints.ts';
import { errorOf } from '../../api.ts';
import { runMortal } from '../../mortal.ts';
import type { Answer } from '../../service.ts';
import { type Asked, letMeet, recordsKey } from '../../watched-engine.ts';
import { cases, type Post } from './cases.ts';
import { type Office, openOffices, type Request, start } from './office.ts';

const { newOffice, engine, hold } = await openOffices();
const leaseMs = 30_000;
const posts = Object.entries(cases).map(([operation, one]) => [operation as Post, one] as const);
const callsOut = (operation: Post) => 'callsOut' in endpoints[operation];
const inProgress = [409, 'request_in_progress'];
const replayed = ({ headers }: Answer) => headers['Idempotency-Replayed'] === 'true';
const codeOf = (answer: Answer) => [answer.status, errorOf(answer)?.code];

/** Whether a request writes the answer, along with what it is the answer to. */
const recordsAnswer = (asked: Asked) => recordsKey(asked) && asked.json.includes('"answer"');

let office: Office;
let request: Request;

beforeEach(async () => {
  office = await newOffice();
});

describe.each(posts)('%s', (operation, one) => {
  const send = () => office.send(operation, request, { key: 'key' });
  const once = async () => expect(new Set(await one.counts(office, request))).toEqual(new Set([1]));
  const ten = () => Array.from({ length: 10 }, send);

  beforeEach(async () => {
    request = await one.prepare(office);
  });

  /** Sends it, and kills the worker at the moment when a request to the engine is so far. */
  function dieAt(moment: 'before' | 'after', at: (asked: Asked) => boolean) {
    return runMortal(async ({ die }) => {
      engine[moment] = (asked: Asked) => {
        if (!at(asked)) return undefined;
        engine.relent();
        die();
        return new Promise(() => {});
      };
      await send();
    });
  }

  /** Expects the answer of a worker that died with its answer written. */
  async function expectReplay() {
    const again = await send();
    expect([again.status, replayed(again)]).toEqual([endpoints[operation].status, true]);
    expect((await send()).body).toEqual(again.body);
    await once();
  }

  if (callsOut(operation)) {
    it('sent by ten at once calls out for one, tells the others to wait, and is then answered again', async () => {
      const { reached, goOn } = hold();
      letMeet(engine, 10, recordsKey);
      const waiting: Answer[] = [];
      const all = ten().map(async (sent) => {
        const answer = await sent;
        waiting.push(answer);
        if (waiting.length === 9) goOn();
        return answer;
      });
      await reached;
      const answers = await Promise.all(all);
      expect(waiting.slice(0, 9).map(codeOf)).toEqual(Array(9).fill(inProgress));
      const [first] = answers.filter(({ status }) => status === 200);
      expect(first && replayed(first)).toBe(false);
      expect((await send()).body).toEqual(first?.body);
      await once();
    });

    it('whose worker dies during the call is told to wait until its lease ends, and then carried out', async () => {
      const held = hold();
      const late = send();
      await held.reached;
      hold().goOn();
      vi.setSystemTime(start + leaseMs - 1);
      expect(codeOf(await send())).toEqual(inProgress);
      vi.setSystemTime(start + leaseMs);
      const answer = await send();
      expect([answer.status, replayed(answer)]).toEqual([200, false]);
      expect(await one.counts(office, request)).toEqual([1, 2]);
      // It was thought dead, and comes to its end after all: too late.
      const before = await office.dump();
      held.goOn();
      for (const again of [await late, await send()])
        expect([replayed(again), again.body]).toEqual([true, answer.body]);
      expect(await office.dump()).toEqual(before);
    });
  } else {
    it('sent by ten at once is carried out for one, and answered alike to all', async () => {
      letMeet(engine, 10, recordsKey);
      const answers = await Promise.all(ten());
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(endpoints[operation].status));
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(answers.filter(replayed)).toHaveLength(9);
      await once();
    });

    it('whose worker dies before it has written anything is carried out when it is sent again', async () => {
      expect(await dieAt('before', recordsKey)).toBe('dead');
      const answer = await send();
      expect([answer.status, replayed(answer)]).toEqual([endpoints[operation].status, false]);
      await once();
    });
  }

  it('whose worker dies after the write and before the answer is answered when it is sent again', async () => {
    expect(await dieAt('after', recordsAnswer)).toBe('dead');
    await expectReplay();
  });

  it('that was carried out for a twin is answered alike, though it would be refused by now', async () => {
    // The twin has found nothing under the key; before it looks at the state, all this happens.
    let first: Answer | undefined;
    engine.after = async ({ action, json }: Asked) => {
      if (action !== 'GetItem' || !json.includes('#I#')) return;
      engine.relent();
      first = await send();
      await one.close(office, request);
    };
    const answer = await send();
    expect([answer.status, answer.body, replayed(answer)]).toEqual([first?.status, first?.body, true]);
  });
});
