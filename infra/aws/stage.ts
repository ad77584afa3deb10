import type { Node } from 'constructs';
import { nearestName } from '../../lib/contract/requests/nearest-name.ts';
import { settingNames, settingsFileOf } from './settings.ts';

/** The names in the CDK's own context that have no colon. */
const namesOfCdk = ['cli-telemetry', 'acknowledged-issue-numbers'];

/**
 * Returns the stage in the context of a deploy, as in `cdk deploy -c stage=prod`.
 *
 * The stage is the only value that is read from the context. All others are rejected, because a setting on one command
 * line is missing on the next one.
 *
 * @throws Error that names each other value, and the settings file for it
 */
export function stageOf(node: Pick<Node, 'getAllContext'>): string | undefined {
  const { stage, ...others } = node.getAllContext() as Record<string, unknown>;
  const named = stage === undefined ? undefined : String(stage);
  const faults = Object.keys(others)
    .filter((name) => !name.includes(':') && !namesOfCdk.includes(name))
    .map((name) => faultOf(name, settingsFileOf(named)));
  if (faults.length === 0) return named;
  throw new Error(
    `Only the stage can be set with -c or in the context of cdk.json, as in -c stage=prod:\n${faults.join('\n')}`,
  );
}

function faultOf(name: string, file: string): string {
  if (settingNames.includes(name)) return `  ${name} is a setting; write it to ${file}.`;
  const meant = nearestName(name, ['stage', ...settingNames]);
  if (meant === 'stage') return `  ${name} is not known; did you mean stage?`;
  return `  ${name} is not known${meant ? `; did you mean the setting ${meant} in ${file}?` : ''}`;
}
