import type * as v from 'valibot';
import type { Endpoint } from '../../contract/endpoint.ts';
import type { Schema } from '../../contract/shapes.ts';

/** A value that is an example, and nobody's to change. */
export type Example<T> = T extends object ? { readonly [Key in keyof T]: Example<T[Key]> } : T;

/**
 * What a reader of the OpenAPI document is told of a row beside its shapes: what it does in Markdown, and an example
 * of what is sent and of what is answered. The types hold the examples to the row's schemas, a test does so again.
 */
type Reference<Row extends Endpoint> = {
  description: string;
} & (Row['body'] extends Schema ? { body: Example<v.InferInput<Row['body']>> } : object) &
  (Row['data'] extends Schema
    ? { data: Example<Row['paged'] extends true ? v.InferOutput<Row['data']>[] : v.InferOutput<Row['data']>> }
    : object);

/** The reference of a family: its rows by operation id, as the family's file exports them. */
export type ReferenceOf<Rows> = {
  readonly [Name in keyof Rows as Rows[Name] extends Endpoint ? Name : never]: Reference<Extract<Rows[Name], Endpoint>>;
};
