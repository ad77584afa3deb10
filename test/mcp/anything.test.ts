import { expect, it } from 'vitest';
import { handler } from '../../functions/mcp/mcp.ts';
import { processContext } from '../../lib/context/context.ts';
import { isOfferedAsTool } from '../../lib/contract/open/mcp.ts';
import { routes } from '../../lib/contract/routes.ts';
import { toolOf } from '../../lib/tools/tool-definitions.ts';
import { anyText } from '../http/any-text.ts';
import { fc } from '../seeded.ts';
import { call, newCaller, openService, pointFunctionsAt } from '../service.ts';
import { messageOf } from './mcp-client.ts';

pointFunctionsAt(await openService());
const { token } = await newCaller(processContext());
const send = (message: Omit<ReturnType<typeof messageOf>, 'body'> & { body: unknown }) =>
  call(handler, { ...message, token });

const oddName = fc.constantFrom('__proto__', 'constructor', 'toString', 'length', '', 'Title');
const value = fc.oneof(
  fc.jsonValue(),
  anyText,
  fc.constantFrom(null, 'done', 'qa-reviewer', '../agents', 'tk_01K00000000000000000000000', '%2f', 1e300, -0),
);

/** A tool with some of its own arguments, and others, as text: in JSON `__proto__` is a name like any other. */
const anyCall = fc
  .constantFrom(...routes.filter(([, row]) => isOfferedAsTool(row)).map(([operation]) => toolOf(operation)))
  .chain(({ name, inputSchema }) => {
    const known = Object.keys(inputSchema.properties as object);
    const names = known.length > 0 ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, oddName) : oddName;
    const entries = fc.array(fc.tuple(names, value), { maxLength: 5 });
    return entries.map((all) => ({
      name,
      text: `{${all.map(([key, one]) => `${JSON.stringify(key)}:${JSON.stringify(one)}`).join(',')}}`,
    }));
  });

it('random arguments of a tool lead to a result, or to an error that the caller can correct', async () => {
  await fc.assert(
    fc.asyncProperty(anyCall, async ({ name, text }) => {
      const { status, body } = await send(messageOf('tools/call', { name, arguments: JSON.parse(text) }));
      const answer = JSON.stringify(body);
      expect([name, text, status, answer]).toEqual([
        name,
        text,
        200,
        expect.not.stringMatching(/internal_error|-32603/),
      ]);
    }),
    { numRuns: 150 },
  );
});

it('a random body leads to a status below 500', async () => {
  const method = fc.constantFrom('tools/call', 'tools/list', 'resources/read', 'prompts/get', 'initialize', 'ping');
  const message = fc.record({
    jsonrpc: fc.constant('2.0'),
    id: value,
    method: fc.oneof(method, anyText),
    params: value,
  });
  const body = fc.oneof(
    message.map((one) => JSON.stringify(one)),
    fc.json(),
    anyText,
  );
  await fc.assert(
    fc.asyncProperty(body, async (sent) => {
      const { status } = await send({ ...messageOf('ping'), body: sent });
      expect([sent, status]).toEqual([sent, expect.toSatisfy((seen: number) => seen < 500)]);
    }),
    { numRuns: 150 },
  );
});

it('a random header leads to a status below 500', async () => {
  const name = fc.constantFrom('accept', 'content-type', 'idempotency-key', 'mcp-method', 'mcp-name', 'x-other');
  const message = messageOf('tools/call', { name: 'list_tasks', arguments: {} });
  await fc.assert(
    fc.asyncProperty(name, fc.oneof(anyText, fc.constantFrom('😀', '\u0000', '=?base64?x?=')), async (header, sent) => {
      const { status } = await send({ ...message, headers: { ...message.headers, [header]: sent } });
      expect([header, sent, status]).toEqual([header, sent, expect.toSatisfy((seen: number) => seen < 500)]);
    }),
    { numRuns: 100 },
  );
});
