import type { InferInput, InferOutput } from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Deliveries, Operations } from '../../lib/client/operations.ts';
import type { Endpoint, Example, RequestOf } from '../../lib/contract/endpoint.ts';
import type { endpoints } from '../../lib/contract/endpoints.ts';
import type { PublicEvent } from '../../lib/contract/webhooks/events.ts';
import { clientSource } from '../../lib/openapi/typescript.ts';

type Rows = typeof endpoints;
type Taken = keyof Operations;

/** The request body and the response data of a row. */
type Sent<Row extends Endpoint> =
  Row['body'] extends NonNullable<Endpoint['body']> ? InferInput<Row['body']> : undefined;
type Got<Row extends Endpoint> =
  Row['data'] extends NonNullable<Endpoint['data']>
    ? Row['paged'] extends true | 'cursor'
      ? InferOutput<Row['data']>[]
      : InferOutput<Row['data']>
    : undefined;
type Body<Request> = Request extends { body?: infer B } ? Exclude<B, undefined> : undefined;

/** Whether two types are assignable to each other. */
type Alike<A, B> = [Example<A>] extends [Example<B>] ? ([Example<B>] extends [Example<A>] ? true : false) : false;

/** The operations that differ from the contract. `context` is not compared: it has no type before it is parsed. */
type Wrong = {
  [Name in Taken]: [
    Alike<Omit<Body<Operations[Name]['request']>, 'context'>, Omit<Sent<Rows[Name]>, 'context'>>,
    Alike<Operations[Name]['data'], Got<Rows[Name]>>,
    Alike<Operations[Name]['paged'], Rows[Name] extends { paged: infer Paged } ? Paged : false>,
  ] extends [true, true, true]
    ? never
    : Name;
}[Taken];

/** The operations whose path parameters have other names than in the contract. */
type Misnamed = {
  [Name in Taken]: (Operations[Name]['request'] extends { params: infer P } ? keyof P : never) extends keyof RequestOf<
    Rows[Name]
  >['params']
    ? never
    : Name;
}[Taken];

describe("the client's types", () => {
  // The compiler checks these types, as part of npm run check.
  it('equal the types of the schemas in the contract', () => {
    expectTypeOf<Wrong>().toBeNever();
    expectTypeOf<Misnamed>().toBeNever();
    expectTypeOf<Exclude<keyof Rows, Taken>>().toEqualTypeOf<
      'openapi' | 'docs' | 'docsScript' | 'mcp' | 'consolePage' | 'consoleAsset'
    >();
  });

  it('have the bodies of the six events', () => {
    expectTypeOf<keyof Deliveries>().toEqualTypeOf<PublicEvent['event']>();
    expectTypeOf<Alike<Deliveries[PublicEvent['event']]['data'], PublicEvent['data']>>().toEqualTypeOf<true>();
  });

  it('cannot be generated for a schema of an unknown kind', () => {
    const schemas = { Odd: { type: 'tuple' } };
    expect(() => clientSource({ paths: {}, webhooks: {}, components: { schemas } })).toThrow(
      /no TypeScript type.*tuple/,
    );
  });
});
