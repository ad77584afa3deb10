import { join } from 'node:path';
import { runToEnd } from '../../processes/python.ts';

/**
 * Checks a template with cfn-lint by CloudFormation's own schemas, without its warnings.
 *
 * @returns the text of its errors; empty if there are none
 */
export async function errorsOf(template: string): Promise<string> {
  const { DEPLOY_PROGRAMS = '' } = process.env;
  const args = ['--ignore-checks', 'W', '--', template];
  const { code, output } = await runToEnd(join(DEPLOY_PROGRAMS, 'cfn-lint'), args);
  return code === 0 ? '' : output || `cfn-lint ended with ${code}.`;
}
