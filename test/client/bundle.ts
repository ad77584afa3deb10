import { build } from 'esbuild';

/** Returns the source of a script for browsers that sets `consumer` to the exports of the program `consumer.ts`. */
export async function bundleConsumer(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['test/client/consumer.ts'],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'consumer',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}
