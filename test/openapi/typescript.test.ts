import type { InferInput, InferOutput } from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Deliveries, Operations } from '../../lib/client/operations.ts';
import type { Endpoint, Example, RequestOf } from '../../lib/contract/endpoint.ts';
import type { endpoints } from '../../lib/contract/endpoints.ts';
import type { PublicEvent } from '../../lib/contract/events.ts';
import { clientSource } from '../../lib/openapi/typescript.ts';

type Rows = typeof endpoints;
type Taken = keyof Operations;

/** What a caller sends and gets by the contract, as far as a row has it. */
type Sent<Row extends Endpoint> =
  Row['body'] extends NonNullable<Endpoint['body']> ? InferInput<Row['body']> : undefined;
type Got<Row extends Endpoint> =
  Row['data'] extends NonNullable<Endpoint['data']>
    ? Row['paged'] extends true
      ? InferOutput<Row['data']>[]
      : InferOutput<Row['data']>
    : undefined;
type Body<Request> = Request extends { body?: infer B } ? Exclude<B, undefined> : undefined;

/** Each of two types can stand for the other. */
type Alike<A, B> = [Example<A>] extends [Example<B>] ? ([Example<B>] extends [Example<A>] ? true : false) : false;

/** The operations of which a part is not as the contract has it; its `context` is of no type until it is parsed. */
type Wrong = {
  [Name in Taken]: [
    Alike<Omit<Body<Operations[Name]['request']>, 'context'>, Omit<Sent<Rows[Name]>, 'context'>>,
    Alike<Operations[Name]['data'], Got<Rows[Name]>>,
    Alike<Operations[Name]['paged'], Rows[Name] extends { paged: true } ? true : false>,
  ] extends [true, true, true]
    ? never
    : Name;
}[Taken];

/** The operations of which a path parameter is called something else. */
type Misnamed = {
  [Name in Taken]: (Operations[Name]['request'] extends { params: infer P } ? keyof P : never) extends keyof RequestOf<
    Rows[Name]
  >['params']
    ? never
    : Name;
}[Taken];

describe("the client's types", () => {
  // Judged by the compiler, as part of npm run check.
  it('take and answer what the schemas of the rows do', () => {
    expectTypeOf<Wrong>().toBeNever();
    expectTypeOf<Misnamed>().toBeNever();
    expectTypeOf<Exclude<keyof Rows, Taken>>().toEqualTypeOf<'openapi' | 'docs' | 'docsScript'>();
  });

  it('have the bodies of the six events', () => {
    expectTypeOf<keyof Deliveries>().toEqualTypeOf<PublicEvent['event']>();
    expectTypeOf<Alike<Deliveries[PublicEvent['event']]['data'], PublicEvent['data']>>().toEqualTypeOf<true>();
  });

  it('cannot be written for a schema of a kind that they have no word for', () => {
    const schemas = { Odd: { type: 'tuple' } };
    expect(() => clientSource({ paths: {}, webhooks: {}, components: { schemas } })).toThrow(
      /no TypeScript type.*tuple/,
    );
  });
});
