import { spawn } from 'node:child_process';
import { join } from 'node:path';

/**
 * Checks a template with cfn-lint by CloudFormation's own schemas, without its warnings.
 *
 * @returns the text of its errors; empty if there are none
 */
export async function errorsOf(template: string): Promise<string> {
  const { DEPLOY_PROGRAMS = '' } = process.env;
  const child = spawn(join(DEPLOY_PROGRAMS, 'cfn-lint'), ['--ignore-checks', 'W', '--', template], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  return code === 0 ? '' : said || `cfn-lint ended with ${code}.`;
}
