import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { listenForCommands, removeFormerAddresses } from '../../../../infra/local/commands/command-address.ts';
import { connectToService } from '../../../../infra/local/commands/command-client.ts';
import { closeDataFolder, type DataFolder, openDataFolder, writeData } from '../../../../infra/local/data-folder.ts';
import { Problem } from '../../../../infra/problem.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';

function newDataFolder(name = 'data'): DataFolder {
  const data = openDataFolder(join(createTemporaryFolder(), name));
  onTestFinished(() => closeDataFolder(data));
  return data;
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** Listens in a data folder, and returns the address and whether a command reaches it. */
async function listen(data: DataFolder) {
  const { address, stop } = await listenForCommands(data, async () => {});
  onTestFinished(stop);
  writeData(data, 'addresses.json', JSON.stringify({ url: 'http://127.0.0.1:1', commands: address }));
  const socket = await connectToService(data.folder);
  socket?.destroy();
  return { address, stop, isReached: socket !== undefined };
}

it('listens at a socket in the data folder, for its owner only, and removes it', async () => {
  const data = newDataFolder();
  const { address, stop, isReached } = await listen(data);
  expect([address, modeOf(address), isReached]).toEqual([join(data.folder, 'commands.sock'), '600', true]);
  await stop();
  expect(existsSync(address)).toBe(false);
});

it('listens in a private folder if the path has too many bytes, and removes it', async () => {
  // It has few enough characters.
  const data = newDataFolder('ä'.repeat(35));
  const { address, stop, isReached } = await listen(data);
  expect([modeOf(address), modeOf(dirname(address)), isReached]).toEqual(['600', '700', true]);
  expect(existsSync(join(data.folder, 'commands.sock'))).toBe(false);
  await stop();
  expect(existsSync(dirname(address))).toBe(false);
});

it('listens in a private folder if there can be no socket in the data folder', async () => {
  const data = newDataFolder();
  mkdirSync(join(data.folder, 'commands.sock'));
  const { address, isReached } = await listen(data);
  expect([dirname(address) === data.folder, isReached]).toEqual([false, true]);
});

it('throws an error of one sentence if there can be no socket in either folder, and leaves none', async () => {
  const data = newDataFolder('x'.repeat(100));
  vi.stubEnv('TMPDIR', data.folder);
  const listening = listenForCommands(data, async () => {});
  await expect(listening).rejects.toThrow(Problem);
  await expect(listening).rejects.toThrow(/; set CREWBOARD_DATA or TMPDIR to a shorter path on a local disk\.$/);
  vi.unstubAllEnvs();
});

it('a start removes what a killed service has left: its addresses, its socket and its private folder', async () => {
  const data = newDataFolder();
  const former = join(createTemporaryFolder(), 'crewboard-abcdef', 'commands.sock');
  mkdirSync(dirname(former));
  writeFileSync(former, '');
  writeData(data, 'commands.sock', '');
  writeData(data, 'addresses.json', JSON.stringify({ url: 'http://127.0.0.1:1', commands: former }));
  removeFormerAddresses(data);
  for (const path of [dirname(former), join(data.folder, 'commands.sock'), join(data.folder, 'addresses.json')])
    expect(existsSync(path)).toBe(false);
  removeFormerAddresses(data);
});

it('a start keeps the files of others in the folder of a former address', () => {
  const data = newDataFolder();
  const other = createTemporaryFolder();
  writeFileSync(join(other, 'notes.txt'), '');
  writeData(data, 'addresses.json', JSON.stringify({ url: '', commands: join(other, 'commands.sock') }));
  removeFormerAddresses(data);
  expect(existsSync(join(other, 'notes.txt'))).toBe(true);
});

it.each(['{"url":"http://127.0.0.1:1","environment":{}}', '{', ''])(
  'a command finds no service at %j',
  async (text) => {
    const data = newDataFolder();
    writeData(data, 'addresses.json', text);
    expect(await connectToService(data.folder)).toBeUndefined();
    removeFormerAddresses(data);
  },
);

it('a command finds no service at an address whose service was killed', async () => {
  const data = openDataFolder(join(createTemporaryFolder(), 'data'));
  const { address } = await listen(data);
  closeDataFolder(data);
  expect([existsSync(address), await connectToService(data.folder)]).toEqual([true, undefined]);
});
