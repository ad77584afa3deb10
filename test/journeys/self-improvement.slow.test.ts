import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Improvement } from '../../lib/contract/improvements.ts';
import { type Deployment, startDeployment } from './deployment.ts';
import { createAgent, endOf, execute, newScript } from './executions.ts';

const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const proposal = (summary: string, append: string) => `My proposal:\n${JSON.stringify({ summary, append })}`;
const shown = (first: string, second: string) => `/<answer-1>\\n${first}[^]*<answer-2>\\n${second}[^]*BETTER:/`;

/** Sources are better than none, and guesses worse; the pupils that are to learn the one or the other say so. */
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

/** An agent that has done something; its path. */
async function pupil(service: Deployment, name: string, systemPrompt: string): Promise<string> {
  await createAgent(service, name, { systemPrompt });
  await endOf(service, name, await execute(service, name, 'When was that?'));
  return `/api/agents/${name}`;
}

const improve = ({ api }: Deployment, path: string) => api<Improvement>('POST', `${path}/self-improve`, { body: {} });

it('adopts what was seen to do better, refuses what was seen to do worse, and says so by the ETag', async () => {
  const service = await startDeployment({ environment: { MODEL_SCRIPT: newScript(rules) } });
  const [citing, guessing] = [await pupil(service, 'citing', 'Cite.'), await pupil(service, 'guessing', 'Guess.')];
  const before = await service.api('GET', citing);
  const adopted = await improve(service, citing);
  expect([adopted.status, adopted.body.data]).toEqual([
    200,
    {
      improved: true,
      changesSummary: 'It asks for a source.',
      previousPromptHash: sha256('Cite.'),
      newPromptHash: sha256('Cite.\n\nName your source.'),
    },
  ]);
  const refused = await improve(service, guessing);
  expect([refused.status, refused.body.data]).toEqual([
    200,
    {
      improved: false,
      changesSummary: 'The proposal was seen to do worse: It lets it guess.',
      previousPromptHash: sha256('Guess.'),
      newPromptHash: sha256('Guess.'),
    },
  ]);

  const [after, other] = [await service.api('GET', citing), await service.api('GET', guessing)];
  expect(after.body.data.systemPrompt).toBe('Cite.\n\nName your source.');
  expect([other.body.data.systemPrompt, other.headers.get('etag')]).toEqual(['Guess.', '"1"']);
  const patch = (etag: string | null) =>
    service.api('PATCH', citing, { body: { description: 'It cites.' }, headers: { 'If-Match': etag ?? '' } });
  expect((await patch(before.headers.get('etag'))).status).toBe(412);
  const patched = await patch(after.headers.get('etag'));
  expect([patched.status, patched.body.data.systemPrompt]).toEqual([200, 'Cite.\n\nName your source.']);
  expect([before, after, patched].map(({ headers }) => headers.get('etag'))).toEqual(['"1"', '"2"', '"3"']);
});

it('answers within half a minute that nothing was improved where the model takes a minute for an answer', async () => {
  const quick = await startDeployment({ environment: { MODEL_SCRIPT: newScript(rules) } });
  const path = await pupil(quick, 'citing', 'Cite.');
  await quick.stop();
  const environment = { MODEL_LATENCY_MS: '60000' };
  const slow = await startDeployment({ dataFolder: quick.dataFolder, environment });
  const begunAt = performance.now();
  const { status, body } = await improve(slow, path);
  expect(performance.now() - begunAt).toBeLessThan(30_000);
  expect([status, body.data]).toEqual([
    200,
    {
      improved: false,
      changesSummary: 'No edit was proposed. There was no time left.',
      previousPromptHash: sha256('Cite.'),
      newPromptHash: sha256('Cite.'),
    },
  ]);
  expect((await slow.api('GET', path)).headers.get('etag')).toBe('"1"');
});
