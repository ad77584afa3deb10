import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Problem } from '../problem.ts';

/** The platforms that the engine is published for. */
const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];

/**
 * Returns the path of the table engine that npm installed for a platform.
 *
 * @param platform `process.platform`
 * @param arch `process.arch`
 * @throws `Problem` if it is not installed; the message says what to do
 */
export function findEngine(platform: string, arch: string): string {
  const name = `@dynoxide/${platform}-${arch}`;
  const program = platform === 'win32' ? 'dynoxide.exe' : 'dynoxide';
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), program);
  } catch {
    throw new Problem(
      `${
        platforms.includes(`${platform}-${arch}`)
          ? `The table engine's package ${name} is not installed; run npm ci, without --omit=optional. Or`
          : `The table engine has no package for ${platform}-${arch};`
      } start DynamoDB Local (docker run -p 8000:8000 amazon/dynamodb-local) and set DYNAMODB_ENDPOINT=http://127.0.0.1:8000.`,
    );
  }
}
