import { execFileSync } from 'node:child_process';
import { freePort } from '../../servers/free-port.ts';
import { createFolder } from '../bench.ts';
import { cpuOfTree } from '../process-stats.ts';
import type { Subject } from '../service.ts';
import { jsonApi, type Peer } from './peer.ts';
import { startProgram } from './programs.ts';

/** The fields of a task that are written. */
export type NewTask = { title: string; description: string; status: string };

/** A board of tasks of its own. */
export type Board = {
  /** Creates a task and returns its id. */
  create: (task: NewTask) => Promise<string>;
  get: (id: string) => Promise<unknown>;
  patch: (id: string, status: string) => Promise<unknown>;
  /** Reads the first 20 tasks with a status, newest first, and returns the number of all of them. */
  list: (status: string) => Promise<number>;
};

/** A service that stores boards of tasks. */
export type BoardService = Subject & { openBoard: (name: string) => Promise<Board> };

const version = '0.36.8';
const source = 'github.com/pocketbase/pocketbase';

const [email, password] = ['bench@example.test', 'a password of the benchmark'];
const credentials = { identity: email, password };

/** PocketBase (github.com/pocketbase/pocketbase): a collection for each board, whose rules let any user in. */
export const pocketbase: Peer<BoardService> = {
  name: 'PocketBase',
  needs: ['pocketbase'],
  install: [
    `GOBIN=$PWD/.peers/bin go install -ldflags "-X ${source}.Version=${version}" ${source}/examples/base@v${version}`,
    'mv .peers/bin/base .peers/bin/pocketbase',
  ].join(' && '),
  async start(bench, paths) {
    const program = paths.pocketbase as string;
    const cwd = createFolder(bench);
    const options = { cwd, env: { PATH: process.env.PATH, HOME: cwd } };
    const folder = ['--dir', `${cwd}/data`, '--automigrate=false'];
    execFileSync(program, ['superuser', 'upsert', email, password, ...folder], { ...options, stdio: 'pipe' });
    const address = `127.0.0.1:${await freePort()}`;
    const args = ['serve', '--http', address, ...folder];
    const pid = await startProgram(bench, program, { ...options, args, ready: /Server started/ });
    const url = `http://${address}/api`;
    const signIn = async (collection: string) => {
      const signedIn = jsonApi(url)<{ token: string }>(
        'POST',
        `/collections/${collection}/auth-with-password`,
        credentials,
      );
      return jsonApi(url, (await signedIn).token);
    };
    const administer = await signIn('_superusers');
    await administer('POST', '/collections/users/records', { email, password, passwordConfirm: password });
    const send = await signIn('users');
    const shown = execFileSync(program, ['--version'], { ...options, encoding: 'utf8' });
    return {
      name: `PocketBase ${shown.trim().split(' ').at(-1)}`,
      cpu: () => cpuOfTree(pid),
      async openBoard(name) {
        await administer('POST', '/collections', collectionOf(name));
        const records = `/collections/${name}/records` as const;
        return {
          create: async (task) => (await send<{ id: string }>('POST', records, task)).id,
          get: (id) => send('GET', `${records}/${id}`),
          patch: (id, status) => send('PATCH', `${records}/${id}`, { status }),
          async list(status) {
            const filter = encodeURIComponent(`status='${status}'`);
            const query = `perPage=20&sort=-created&filter=${filter}`;
            return (await send<{ totalItems: number }>('GET', records, undefined, query)).totalItems;
          },
        };
      },
    };
  },
};

/** Returns the collection of a board: its fields, an index for its list by status, and a rule that lets any user in. */
function collectionOf(name: string) {
  const rule = '@request.auth.id != ""';
  return {
    ...{ name, type: 'base', listRule: rule, viewRule: rule, createRule: rule, updateRule: rule, deleteRule: rule },
    fields: [
      { name: 'title', type: 'text', required: true },
      { name: 'description', type: 'text' },
      { name: 'status', type: 'text', required: true },
      { name: 'created', type: 'autodate', onCreate: true },
      { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
    ],
    indexes: [`CREATE INDEX idx_${name} ON ${name} (status, created)`],
  };
}
