import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

/**
 * The errors of AWS that stay errors of their own class in the bundles: those that the sources tell by `instanceof` or
 * read more of than name and message, and those that the SDK tries again because of their class.
 */
export const keptErrors: readonly string[] = [
  'ConditionalCheckFailedException',
  'TransactionCanceledException',
  'TransactionConflictException',
  'TransactionInProgressException',
  'ModelNotReadyException',
  'ReplicatedWriteConflictException',
];

/**
 * Lets the bundler drop what no function needs of the schemas that each client of the SDK has of all its operations. It
 * may not by itself, for two reasons:
 *
 * - Each modelled error is registered by a call. Without it the SDK throws the client's base exception in its place
 *   (`getErrorSchemaOrThrowBaseException` of `@aws-sdk/core`), of the same name, message, `$fault` and `$metadata`; only
 *   SQS's bear the names of its older protocol, such as `AWS.SimpleQueueService.NonExistentQueue`.
 * - A key of a trait is computed from a constant, as in `{ [_hE]: 400 }`, and computing it might do something.
 */
export const clientSchemas: Plugin = {
  name: 'client-schemas',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]@aws-sdk[\\/]client-[\w-]+[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/ }, ({ path }) => ({
      contents: droppable(readFileSync(path, 'utf8')),
    })),
};

/** A module of schemas of which each is gone from a bundle in which nothing refers to it. */
function droppable(module: string): string {
  const constants = new Map([...module.matchAll(/^const (\w+) = (".+");$/gm)].map(([, name, text]) => [name, text]));
  return module
    .replaceAll(/\[(\w+)\]:/g, (key, name) => (constants.has(name) ? `${constants.get(name)}:` : key))
    .replaceAll(/^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm, (call, error) =>
      keptErrors.includes(error) ? call : `/* @__PURE__ */ ${call}`,
    );
}
