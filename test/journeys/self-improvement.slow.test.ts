import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Improvement } from '../../lib/contract/improvements.ts';
import { dataOf } from '../api.ts';
import { type Deployment, startDeployment } from './deployment.ts';
import { createAgent, endOf, execute, newScript } from './requests.ts';

const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const proposal = (summary: string, append: string) => `My proposal:\n${JSON.stringify({ summary, append })}`;
const shown = (first: string, second: string) => `/<answer-1>\\n${first}[^]*<answer-2>\\n${second}[^]*BETTER:/`;

/** The judge prefers an answer with a source to a plain one, and a plain one to a guess. */
const rules = [
  { match: '/<prompt>\\nCite[^]*Propose/', text: proposal('It asks for a source.', 'Name your source.') },
  { match: '/<prompt>\\nGuess[^]*Propose/', text: proposal('It lets it guess.', 'You may guess.') },
  { match: shown('Plain', 'Sourced'), text: 'The second has a source.\nBETTER: 2' },
  { match: shown('Sourced', 'Plain'), text: 'The first has a source.\nBETTER: 1' },
  { match: shown('Plain', 'Guessed'), text: 'The second is no answer.\nBETTER: 1' },
  { match: shown('Guessed', 'Plain'), text: 'The first is no answer.\nBETTER: 2' },
  { match: 'VERDICT:', text: 'It could be better.\nVERDICT: FAIL' },
  { match: '', system: 'Name your source.', text: 'Sourced: see chapter 2.' },
  { match: '', system: 'You may guess.', text: 'Guessed, perhaps.' },
  { match: '', text: 'Plain.' },
];

/** Creates an agent with one execution, and returns the parameters of its path. */
async function createExperienced(service: Deployment, name: string, systemPrompt: string): Promise<{ name: string }> {
  await createAgent(service, name, { systemPrompt });
  await endOf(service, name, await execute(service, name, 'When was that?'));
  return { name };
}

async function improve({ api }: Deployment, params: { name: string }) {
  const answer = await api.selfImproveAgent({ params, body: {} });
  return [answer.status, dataOf<Improvement>(answer)];
}

/** Reads an agent, and returns its prompt and its ETag. */
async function read({ api }: Deployment, params: { name: string }) {
  const answer = await api.getAgent({ params });
  return [dataOf<{ systemPrompt: string }>(answer).systemPrompt, answer.headers.ETag];
}

it('adopts an edit that is judged better, rejects one that is judged worse, and changes the ETag', async () => {
  const service = await startDeployment({ environment: { MODEL_SCRIPT: newScript(rules) } });
  const [citing, guessing] = [
    await createExperienced(service, 'citing', 'Cite.'),
    await createExperienced(service, 'guessing', 'Guess.'),
  ];
  expect(await improve(service, citing)).toEqual([
    200,
    {
      improved: true,
      changesSummary: 'It asks for a source.',
      previousPromptHash: sha256('Cite.'),
      newPromptHash: sha256('Cite.\n\nName your source.'),
    },
  ]);
  expect(await improve(service, guessing)).toEqual([
    200,
    {
      improved: false,
      changesSummary: 'The proposal was seen to do worse: It lets it guess.',
      previousPromptHash: sha256('Guess.'),
      newPromptHash: sha256('Guess.'),
    },
  ]);

  expect(await read(service, guessing)).toEqual(['Guess.', '"1"']);
  const adopted = 'Cite.\n\nName your source.';
  expect(await read(service, citing)).toEqual([adopted, '"2"']);
  const patch = (etag: string) =>
    service.api.updateAgent({ params: citing, body: { description: 'It cites.' }, headers: { 'If-Match': etag } });
  expect((await patch('"1"')).status).toBe(412);
  expect((await patch('"2"')).status).toBe(200);
  expect(await read(service, citing)).toEqual([adopted, '"3"']);
});

it('responds within half a minute that nothing was improved when the model takes a minute', async () => {
  const quick = await startDeployment({ environment: { MODEL_SCRIPT: newScript(rules) } });
  const params = await createExperienced(quick, 'citing', 'Cite.');
  await quick.stop();
  const environment = { MODEL_LATENCY_MS: '60000' };
  const slow = await startDeployment({ dataFolder: quick.dataFolder, environment });
  const begunAt = performance.now();
  const improvement = await improve(slow, params);
  expect(performance.now() - begunAt).toBeLessThan(30_000);
  expect(improvement).toEqual([
    200,
    {
      improved: false,
      changesSummary: 'No edit was proposed. There was no time left.',
      previousPromptHash: sha256('Cite.'),
      newPromptHash: sha256('Cite.'),
    },
  ]);
  expect(await read(slow, params)).toEqual(['Cite.', '"1"']);
});
