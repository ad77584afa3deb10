import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTemporaryFolder } from '../../temporary-files.ts';
import { everything } from './everything.ts';
import { outpost } from './outpost.ts';
import { startPeer } from './peer.ts';
import { pocketbase } from './pocketbase.ts';
import { restate } from './restate/restate.ts';

/** A benchmark, and the lines that it says. */
function createBench() {
  const said: string[] = [];
  return { said, bench: { quick: true, say: (line: string) => said.push(line), atEnd: () => {} } };
}

it('says in a line for each peer what is missing and which command installs it', async () => {
  const { said, bench } = createBench();
  const none = [createTemporaryFolder()];
  for (const peer of [outpost, restate, pocketbase, everything])
    expect(await startPeer<never>(bench, peer as never, none)).toBeUndefined();
  expect(said).toEqual([
    'Outpost is not measured: outpost, outpost-server, redis-server, rabbitmq-server, epmd, initdb, postgres not found. Install: apt-get install redis-server rabbitmq-server postgresql && GOBIN=$PWD/.peers/bin go install -ldflags "-X github.com/hookdeck/outpost/internal/version.version=1.2.0" github.com/hookdeck/outpost/cmd/outpost@v1.2.0 github.com/hookdeck/outpost/cmd/outpost-server@v1.2.0',
    'Restate is not measured: restate-server, @restatedev/restate-sdk not found. Install: npm install --prefix .peers @restatedev/restate-server@1.7.12 @restatedev/restate-sdk@1.17.2',
    'PocketBase is not measured: pocketbase not found. Install: GOBIN=$PWD/.peers/bin go install -ldflags "-X github.com/pocketbase/pocketbase.Version=0.36.8" github.com/pocketbase/pocketbase/examples/base@v0.36.8 && mv .peers/bin/base .peers/bin/pocketbase',
    'server-everything is not measured: @modelcontextprotocol/server-everything not found. Install: npm install --prefix .peers @modelcontextprotocol/server-everything@2026.8.31',
  ]);
});

it('starts a peer by the first folder that has each of its programs, and names only those that no folder has', async () => {
  const [first, second] = [createTemporaryFolder(), createTemporaryFolder()];
  for (const file of [join(first, 'both'), join(second, 'both'), join(second, 'other')]) writeFileSync(file, '');
  const { said, bench } = createBench();
  const peer = {
    name: 'Peer',
    needs: ['both', 'other'],
    install: 'install it',
    start: async (_: unknown, paths: Readonly<Record<string, string>>) => ({ name: 'Peer 1', cpu: () => 0, paths }),
  };
  const started = await startPeer(bench, peer, [first, second]);
  expect(started?.paths).toEqual({ both: join(first, 'both'), other: join(second, 'other') });
  expect(await startPeer(bench, peer, [first])).toBeUndefined();
  expect(said).toEqual(['Peer is not measured: other not found. Install: install it']);
});
