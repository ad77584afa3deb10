import { readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Plugin } from 'esbuild';

/** Returns the path of a stub by its name. */
export function stubFile(name: string): string {
  return join(import.meta.dirname, 'stubs', `${name}.ts`);
}

/** Files of the SDK that other files of their package import, by the end of their path, each with the name of its stub. */
export const replacedFiles: Readonly<Record<string, string>> = {
  'submodules/checksum/sha256/Sha256Js.js': 'sha256',
  'submodules/retry/util-retry/AdaptiveRetryStrategy.js': 'adaptive-retries',
  'submodules/config/config-resolver/regionConfig/getInstanceMetadataRegion.js': 'instance-metadata',
  'submodules/config/shared-ini-file-loader/loadSharedConfigFiles.js': 'config-files',
};

/** Puts stubs in place of files that a package imports by a relative path, where an alias does not apply. */
const stubbedFiles: Plugin = {
  name: 'stubbed-files',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]@smithy[\\/]core[\\/]dist-es[\\/]submodules[\\/]/ }, async ({ path }) => {
      const found = Object.keys(replacedFiles).find((end) => path.replaceAll(sep, '/').endsWith(end));
      if (!found) return undefined;
      return { contents: await readFile(stubFile(replacedFiles[found] as string), 'utf8'), loader: 'ts' };
    }),
};

/** The errors of AWS whose class or fields the project reads. */
export const readErrors = [
  'ConditionalCheckFailedException',
  'TransactionCanceledException',
  'TransactionConflictException',
  'TransactionInProgressException',
] as const;

/** The schema of an error and its registration, with the error's name. */
const registeredError = /^export var (\w+)\$ = \[-3[^;]*\];\nn0_registry\.registerError\(\1\$, \1\);$/gm;

/**
 * Leaves out the classes and schemas of all other errors. A client that does not know an error throws its own base
 * exception with the name, status and fields of the response, and the project compares names only.
 */
const sdkErrors: Plugin = {
  name: 'sdk-errors',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]client-[a-z-]+[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const isPartOfStream = (name: string) => text.includes(`() => ${name}$`);
      const contents = text.replace(registeredError, (lines, name) =>
        readErrors.some((read) => read === name) || isPartOfStream(name) ? lines : '',
      );
      return { contents, loader: 'js' };
    }),
};

/** Leaves all but the version out of the descriptions of the clients' packages, which they send in `User-Agent`. */
const sdkPackages: Plugin = {
  name: 'sdk-packages',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]@aws-sdk[\\/]client-[a-z-]+[\\/]package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    }),
};

/** The plugins that leave out parts of the SDK that no alias can replace. */
export const sdkParts: readonly Plugin[] = [stubbedFiles, sdkErrors, sdkPackages];
