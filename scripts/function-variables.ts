import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { asFunctions, functionSources } from '../infra/aws/bundle.ts';
import type { Context } from '../lib/context/context.ts';
import type { environment } from '../lib/names/environment.ts';
import type { Limits } from '../lib/settings/limits.ts';

const root = join(import.meta.dirname, '..');

type Name = keyof typeof environment;

/** Variables of the local service and of tests. No function in AWS has them. */
const neverInAws = [
  'dynamodbEndpoint',
  'sqsEndpoint',
  'modelEndpoint',
  'secretsKeyFile',
  'normalAttempts',
  'allowedReceivers',
] as const satisfies Name[];

/** Variables that the code reads by their names, wherever it needs them. */
const readByName = ['serviceName', 'secretsKeyId', 'modelRegion'] as const satisfies Name[];

/** The other variables, each with the property of the context that has its value. */
const readInContext = {
  tableName: 'table',
  defaultModel: 'defaultModel',
  allowedModels: 'allowedModels',
  corsOrigins: 'allowedOrigins',
  retryLadder: 'retrySchedule',
  responseDays: 'responseDays',
  failingDays: 'failingAfterMs',
  slowAttempts: 'attemptLimits',
  runningCap: 'runningCap',
  waitingLimit: 'waitingLimitMs',
  executionSteps: 'executionLimits',
  executionTokens: 'executionLimits',
  executionMinutes: 'executionLimits',
  requestsPerMinute: 'requestsPerMinute',
  executionsPerMinute: 'executionsPerMinute',
  callsOutPerMinute: 'callsOutPerMinute',
  dailyTokens: 'dailyTokens',
} as const satisfies Record<
  Exclude<Name, (typeof neverInAws | typeof readByName)[number] | `${string}QueueUrl`>,
  keyof Context | keyof Limits
>;

/** The modules that create the context. They name all its properties, and read only what other modules read from it. */
const creators = /^lib\/(?:context\/context|names\/[\w-]+|settings\/[\w-]+)\.ts\n/;

/** Data of bundles, which names no variable and takes seconds to build. */
const withoutData: Plugin = {
  name: 'without-data',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/](console-files|guides|tool-list|skill-catalogue)\.ts$/ }, () => ({
      contents: 'export const readConsole = 0, readGuides = () => [], readTools = () => [], readSkills = () => [];',
    })),
};

/**
 * Returns the environment variables that a bundle reads, by their names in `lib/names/environment.ts`. The URLs of queues
 * are not among them: the rows of `lib/names/consumers.ts` name the queues, as they do for rights.
 *
 * @param bundle the text of the bundle as esbuild writes it without minification: unused code is left out, and each module
 *   begins with a comment that has its path
 */
export function variablesReadBy(bundle: string): Name[] {
  const modules = bundle.split(/^\/\/ (?=[\w./@-]+\.[a-z]+\n)/m);
  const text = modules
    .filter((module) => !creators.test(module))
    .map((module) => module.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''))
    .join('\n');
  const reads = (property: string) => new RegExp(`(?:\\.|[{,]\\s*)${property}\\b`).test(text);
  // The health check is about the settings of all functions.
  const checksAll = bundle.includes('\n// lib/http/check-health.ts\n');
  const byName = readByName.filter((name) => text.includes(`environment.${name}`));
  const inContext = (Object.keys(readInContext) as (keyof typeof readInContext)[]).filter((name) =>
    // Every context has the table.
    name === 'tableName' ? bundle.includes('\n// lib/context/context.ts\n') : checksAll || reads(readInContext[name]),
  );
  return [...inContext, ...byName].sort();
}

/** Returns the source of `infra/aws/functions/function-variables.ts`: the variables that each function reads. */
export async function functionVariablesSource(): Promise<string> {
  const sources = functionSources();
  const { outputFiles } = await build({
    ...asFunctions,
    entryPoints: sources,
    absWorkingDir: root,
    outbase: root,
    outdir: root,
    minify: false,
    // Replaces conditions that are never true, so that unused code is left out as it is from the functions.
    minifySyntax: true,
    sourcemap: false,
    packages: 'external',
    plugins: [withoutData],
    write: false,
  });
  const rows = sources.map((source) => {
    const bundle = outputFiles.find(({ path }) => path === resolve(root, source.replace(/\.ts$/, '.js')));
    if (!bundle) throw new Error(`esbuild wrote no bundle of ${source}.`);
    const names = variablesReadBy(bundle.text).map((name) => `'${name}'`);
    const line = `  '${source}': [${names.join(', ')}],`;
    return line.length <= 120 ? line : `  '${source}': [\n${names.map((name) => `    ${name},`).join('\n')}\n  ],`;
  });
  return `// Generated from the functions by \`npm run generate\`. Change them, not this file.

import type { environment } from '../../../lib/names/environment.ts';

/** The environment variables that each function reads, without the URLs of queues, by the source of the function. */
export const functionVariables: Readonly<Record<string, readonly (keyof typeof environment)[]>> = {
${rows.join('\n')}
};
`;
}
