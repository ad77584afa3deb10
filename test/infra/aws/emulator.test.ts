import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { everything } from './all-options.ts';
import { stackOf } from './synthesized.ts';

type Resources = Record<string, { Type: string; Properties: { Metrics?: unknown } }>;
type Json = { Resources: Resources };

/** Actions that AWS does not know, but the emulator asks for. */
const actionsOfEmulator = ['sqs:SendMessageBatch', 'bedrock:Converse'];

/** A template without what an emulator may lack, alarms on formulas and what names them, or have besides. */
function comparable(template: Json): unknown {
  const isLacking = ({ Type, Properties }: Resources[string]) =>
    Type === 'AWS::CloudWatch::Alarm' && Properties.Metrics;
  const kept = Object.entries(template.Resources).filter(([, resource]) => !isLacking(resource));
  const lacking = new Set(Object.keys(template.Resources).filter((id) => !kept.some(([other]) => other === id)));
  return JSON.parse(JSON.stringify({ ...template, Resources: Object.fromEntries(kept) }), (key, value) => {
    if (!Array.isArray(value)) return value;
    if (key === 'Alarms') return value.filter(({ Name }) => !lacking.has(Name?.Ref));
    if (key !== 'Action') return value;
    const actions = value.filter((action) => !actionsOfEmulator.includes(action));
    // An action that is left alone is no list in a template.
    return actions.length === 1 ? actions[0] : actions;
  });
}

it('the stack for an emulator differs by alarms on formulas and by two rights, and by nothing else', () => {
  const [real, emulated] = [false, true].map(
    (emulator) => Template.fromStack(stackOf(undefined, { ...everything, emulator })).toJSON() as Json,
  ) as [Json, Json];
  expect(comparable(emulated)).toEqual(comparable(real));
  expect(emulated).not.toEqual(real);
});
