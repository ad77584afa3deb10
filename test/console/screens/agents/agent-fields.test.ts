import { describe, expect, it } from 'vitest';
import type { Agent } from '../../../../lib/client/operations.ts';
import {
  highestLimits,
  patchOf,
  standardLimits,
  valuesOf,
} from '../../../../lib/console/screens/agents/agent-fields.ts';
import { exampleAgent, highestStepLimits } from '../../../../lib/contract/agents.ts';
import { numberSettings } from '../../../../lib/deployment/number-settings.ts';

const agent = { ...exampleAgent, capabilities: [...exampleAgent.capabilities], maxSteps: 9 } satisfies Agent;

describe('the fields of the editor of an agent', () => {
  it('name the limits of the API, and those of a deployment by default', () => {
    const { steps, tokens } = highestStepLimits;
    expect(highestLimits).toEqual({ maxSteps: steps, maxTokens: tokens });
    const { executionSteps, executionTokens } = numberSettings;
    expect(standardLimits).toEqual({ maxSteps: executionSteps.standard, maxTokens: executionTokens.standard });
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
