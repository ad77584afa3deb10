import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { stackOf } from './synthesized.ts';

type Resources = Record<string, { Type: string; Properties: { Metrics?: unknown } }>;
type Json = { Resources: Resources };

/** Every optional part of the stack, so that none can differ unseen. */
const settings = {
  alarmEmail: 'ops@example.com',
  corsOrigins: ['https://board.example'],
  tags: { team: 'crew' },
};

/** Actions that AWS does not know, but the emulator asks for. */
const actionsOfEmulator = ['sqs:SendMessageBatch', 'bedrock:Converse'];

/** A template without what an emulator may lack or have besides; an action that is left alone is no list. */
function comparable(template: Json): unknown {
  const resources = Object.entries(template.Resources).filter(
    ([, { Type, Properties }]) => !(Type === 'AWS::CloudWatch::Alarm' && Properties.Metrics),
  );
  return JSON.parse(JSON.stringify({ ...template, Resources: Object.fromEntries(resources) }), (key, value) => {
    if (key !== 'Action' || !Array.isArray(value)) return value;
    const actions = value.filter((action) => !actionsOfEmulator.includes(action));
    return actions.length === 1 ? actions[0] : actions;
  });
}

it('the stack for an emulator differs by alarms on formulas and by two rights, and by nothing else', () => {
  const [real, emulated] = [false, true].map(
    (emulator) => Template.fromStack(stackOf(undefined, { ...settings, emulator })).toJSON() as Json,
  ) as [Json, Json];
  expect(comparable(emulated)).toEqual(comparable(real));
  expect(emulated).not.toEqual(real);
});
