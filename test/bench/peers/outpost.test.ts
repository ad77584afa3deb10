import { expect, it } from 'vitest';
import { createTemporaryFolder } from '../../temporary-files.ts';
import { startOutpost } from './outpost.ts';

/** Starts Outpost in an environment, and returns its output. */
async function saidIn(environment: NodeJS.ProcessEnv): Promise<string[]> {
  const said: string[] = [];
  const bench = { quick: true, say: (line: string) => said.push(line), atEnd: () => {} };
  expect(await startOutpost(bench, environment)).toBeUndefined();
  return said;
}

it('skips Outpost without its folder, and says where to read how to install it', async () => {
  expect(await saidIn({})).toEqual([
    'Outpost is skipped: OUTPOST does not name the folder of its programs; see test/bench/peers/outpost.ts.',
  ]);
});

it('skips Outpost without its programs, and names them', async () => {
  const empty = createTemporaryFolder();
  expect(await saidIn({ OUTPOST: empty, PATH: empty })).toEqual([
    expect.stringMatching(
      /^Outpost is skipped: outpost, outpost-server, .*not found; see test\/bench\/peers\/outpost\.ts\.$/,
    ),
  ]);
});
