import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Improvement } from '../../lib/contract/improvements.ts';
import { successOf } from '../api.ts';
import { startDeployment } from './deployment.ts';
import { createAgent, endOf, execute, newScript } from './requests.ts';

it('responds within half a minute that nothing was improved when the model takes a minute', async () => {
  const rules = [
    { match: 'VERDICT:', text: 'It could be better.\nVERDICT: FAIL' },
    { match: '', text: 'Plain.' },
  ];
  const quick = await startDeployment({ environment: { MODEL_SCRIPT: newScript(rules) } });
  const params = { name: await createAgent(quick, 'citing', { systemPrompt: 'Cite.' }) };
  await endOf(quick, params.name, await execute(quick, params.name, 'When was that?'));
  await quick.stop();

  const { api } = await startDeployment({
    dataFolder: quick.dataFolder,
    environment: { MODEL_LATENCY_MS: '60000' },
  });
  const begunAt = performance.now();
  const improvement = successOf<Improvement>(await api.selfImproveAgent({ params, body: {} }));
  expect(performance.now() - begunAt).toBeLessThan(30_000);
  const hash = `sha256:${createHash('sha256').update('Cite.').digest('hex')}`;
  expect(improvement).toEqual({
    improved: false,
    changesSummary: 'No edit was proposed. There was no time left.',
    previousPromptHash: hash,
    newPromptHash: hash,
  });
  const agent = await api.getAgent({ params });
  expect(successOf<{ systemPrompt: string }>(agent).systemPrompt).toBe('Cite.');
  expect(agent.headers.ETag).toBe('"1"');
});
