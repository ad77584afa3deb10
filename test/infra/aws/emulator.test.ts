import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { allOptions } from './all-options.ts';
import { stackOf } from './synthesized.ts';

type Resources = Record<string, { Type: string; Properties: { Metrics?: unknown } }>;
type Json = { Resources: Resources };

/** Actions that the emulator checks and AWS does not have. */
const actionsOfEmulator = ['sqs:SendMessageBatch', 'bedrock:Converse'];

const hasFormula = ({ Type, Properties }: Resources[string]) =>
  Type === 'AWS::CloudWatch::Alarm' && Properties.Metrics !== undefined;

/** Returns a template without the allowed differences: alarms on formulas, and additional actions. */
function comparable(template: Json): unknown {
  const kept = Object.entries(template.Resources).filter(([, resource]) => !hasFormula(resource));
  const text = JSON.stringify({ ...template, Resources: Object.fromEntries(kept) });
  // The id of the check of a deploy has a digest of all settings and rights.
  return JSON.parse(text.replaceAll(/StartCheckResult[0-9A-F]+/g, 'StartCheckResult'), (key, value) => {
    if (key !== 'Action' || !Array.isArray(value)) return value;
    const actions = value.filter((action) => !actionsOfEmulator.includes(action));
    // A single action is not a list in a template.
    return actions.length === 1 ? actions[0] : actions;
  });
}

it('the stack for an emulator differs only by alarms on formulas and by two rights', () => {
  const [real, emulated] = [false, true].map(
    (emulator) => Template.fromStack(stackOf(undefined, { ...allOptions, emulator })).toJSON() as Json,
  ) as [Json, Json];
  expect(comparable(emulated)).toEqual(comparable(real));
  for (const action of actionsOfEmulator) {
    expect(JSON.stringify(emulated)).toContain(`"${action}"`);
    expect(JSON.stringify(real)).not.toContain(action);
  }
  expect(Object.values(emulated.Resources).filter(hasFormula)).toEqual([]);
});
