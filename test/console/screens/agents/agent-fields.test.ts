import { describe, expect, it } from 'vitest';
import type { Agent } from '../../../../lib/client/operations.ts';
import {
  conductNumbers,
  highestLimits,
  patchOf,
  standardLimits,
  textOf,
  valuesOf,
} from '../../../../lib/console/screens/agents/agent-fields.ts';
import { exampleAgent } from '../../../../lib/contract/agents/agents.ts';
import { highestConduct, standardConduct } from '../../../../lib/contract/agents/standard-conduct.ts';
import { highestStepLimits } from '../../../../lib/contract/agents/step-limits.ts';
import { numberSettings } from '../../../../lib/settings/number-settings.ts';

const agent = { ...exampleAgent, capabilities: [...exampleAgent.capabilities], maxSteps: 9 } satisfies Agent;

describe('the fields of the editor of an agent', () => {
  it('name the limits of the API, and those of a deployment by default', () => {
    const { steps, tokens } = highestStepLimits;
    expect(highestLimits).toEqual({ maxSteps: steps, maxTokens: tokens });
    const { executionSteps, executionTokens } = numberSettings;
    expect(standardLimits).toEqual({ maxSteps: executionSteps.standard, maxTokens: executionTokens.standard });
  });

  it('name the range and the defaults of the numbers of an agent that starts by itself', () => {
    for (const field of ['maxRunning', 'autoRetry'] as const) {
      const { highest, standard } = conductNumbers[field];
      expect({ highest, standard }).toEqual({ highest: highestConduct[field], standard: standardConduct[field] });
    }
  });

  it('send how an agent starts by itself, and the default of a number that is empty', () => {
    const values = valuesOf({ ...agent, maxRunning: 4 });
    expect(values).toMatchObject({ autoRun: false, maxRunning: '4', autoRetry: '0', dependencyResults: true });
    const draft = { autoRun: true, maxRunning: '', autoRetry: '2', autoAccept: false, dependencyResults: false };
    const patch = { autoRun: true, maxRunning: 1, autoRetry: 2, dependencyResults: false };
    expect(patchOf(draft, values)).toEqual(patch);
    expect([textOf(true), textOf(false)]).toEqual(['yes', 'no']);
  });

  it('send limits as numbers, and null for what is empty', () => {
    const values = valuesOf(agent);
    expect(values).toMatchObject({ maxSteps: '9', maxTokens: '' });
    expect(patchOf({ maxSteps: '', maxTokens: '5000' }, values)).toEqual({ maxSteps: null, maxTokens: 5_000 });
    expect(patchOf({ description: '', model: '' }, values)).toEqual({ description: null, model: null });
  });

  it('send only what differs', () => {
    const values = valuesOf(agent);
    expect(patchOf({ maxSteps: '9', soul: values.soul, displayName: 'Another' }, values)).toEqual({
      displayName: 'Another',
    });
  });
});
