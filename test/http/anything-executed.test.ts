import { expect, it } from 'vitest';
import { environment } from '../../lib/names/environment.ts';
import { readExecutionInput } from '../../lib/table/executions/executions.ts';
import { createTestExecutions, startedOf } from '../functions/executions/test-executions.ts';
import { fc } from '../seeded.ts';
import { anyText } from './any-text.ts';

const { service, newExecutionsApi } = await createTestExecutions({ [environment.runningCap]: '999999' });

/** A JSON text: a JavaScript object cannot have every key. */
class Json {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
const jsonOf = (one: unknown): string => (one instanceof Json ? one.text : JSON.stringify(one));

const text = fc.oneof({ weight: 3, arbitrary: fc.string({ unit: 'grapheme' }) }, anyText);
const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toJSON', '', 'a.b', '0'));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.constantFrom(null, true, 0, 0.1, 1e21), text, tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }).map((all) => new Json(`[${all.map(jsonOf).join(',')}]`)),
  object: fc
    .uniqueArray(fc.tuple(key, tie('value')), { maxLength: 4, selector: ([name]) => name })
    .map((all) => new Json(`{${all.map(([name, one]) => `${JSON.stringify(name)}:${jsonOf(one)}`).join(',')}}`)),
}));

it('any input of a start is rejected, or its worker gets exactly this input', async () => {
  const api = await newExecutionsApi();
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(text, value, async (input, context) => {
      const body = `{"input":${JSON.stringify(input)},"context":${jsonOf(context)}}`;
      const answer = await api.execute(body);
      expect([200, 400]).toContain(answer.status);
      if (answer.status === 400) return;
      accepted++;
      const { organization } = api;
      const asked = await readExecutionInput(service, { organization, id: startedOf(answer).executionId });
      expect(JSON.stringify(asked)).toBe(JSON.stringify(JSON.parse(body)));
    }),
    { numRuns: 80 },
  );
  expect(accepted).toBeGreaterThan(0);
});
