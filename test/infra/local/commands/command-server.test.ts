import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runInService } from '../../../../infra/local/commands/command-client.ts';
import { type RunCommand, startCommandServer } from '../../../../infra/local/commands/command-server.ts';
import { Problem } from '../../../../infra/problem.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';
import { recordingTerminal } from '../../cli/served.ts';

const limits = { longestRequest: 1_000, requestWithinMs: 60_000, mostUnsent: 1_000_000, stopWithinMs: 60_000 };

/** Starts a server, which is stopped after the test. */
async function serve(run: RunCommand, changed: Partial<typeof limits> = {}) {
  const address = join(createTemporaryFolder(), 'commands.sock');
  const stop = await startCommandServer(address, run, { ...limits, ...changed });
  onTestFinished(stop);
  return { address, stop };
}

/** Connects to a server. The connection is closed after the test. */
function connected(address: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address, () => resolve(socket)).once('error', reject);
    onTestFinished(() => void socket.destroy());
  });
}

/** Runs a command in a service, and returns its result and its progress. */
async function call(address: string, command: string, ...args: string[]) {
  const { terminal, result, progress } = recordingTerminal();
  await runInService(await connected(address), { command, args, folder: '/' }, terminal);
  return { ...result, progress };
}

/** Sends a text, and returns all that the server answers before it disconnects. */
async function answerTo(address: string, text: string): Promise<string> {
  const socket = await connected(address);
  socket.write(text);
  return (await Array.fromAsync(socket.setEncoding('utf8') as AsyncIterable<string>)).join('');
}

const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

it('runs a command with its arguments, and prints its output, progress and exit code at the client', async () => {
  const { address } = await serve(async ({ command, args }, { print, printError, startProgress, exit }) => {
    print(`${command}: ${args.join(' | ')}`);
    const { report, end } = startProgress('Reading');
    report('1 read');
    end();
    printError('almost\ndone');
    exit(3);
  });
  expect(await call(address, 'token list', '--org', 'ä\n\u2028b')).toEqual({
    ...{ code: 3, stdout: 'token list: --org | ä\n\u2028b\n', stderr: 'almost\ndone\n' },
    progress: ['Reading', '1 read', 'end'],
  });
});

it('transfers texts of any length and with any characters', async () => {
  const text = '🦊\u2028\r\n"\\\u001b[31m'.repeat(50_000);
  const { address } = await serve(async (_, { print }) => print(text), { mostUnsent: 64_000_000 });
  expect((await call(address, 'show')).stdout).toBe(`${text}\n`);
});

it('runs two commands at once', async () => {
  const both = Promise.withResolvers<void>();
  let running = 0;
  const { address } = await serve(async ({ command }, { print }) => {
    running += 1;
    if (running === 2) both.resolve();
    await both.promise;
    print(command);
  });
  const ended = await Promise.all([call(address, 'one'), call(address, 'two')]);
  expect(ended.map(({ stdout }) => stdout)).toEqual(['one\n', 'two\n']);
});

it.each([
  ['no JSON', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
  ['no command', '{"args":[],"folder":"/"}\n'],
  ['arguments that are no texts', '{"command":"token create","args":["--org",{"x":1}],"folder":"/"}\n'],
  ['a command of the table', '{"TableName":"crewboard","Item":{}}\n'],
  ['a line that is too long', `{"command":"x","args":["${'a'.repeat(1_000)}"],"folder":"/"}\n`],
  ['no end of a line that is too long', 'a'.repeat(1_001)],
])('answers %s with an error', async (_, text) => {
  const run = vi.fn<RunCommand>();
  const { address } = await serve(run);
  const lines = (await answerTo(address, text)).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { printError: expect.stringContaining('The service does not understand this command') },
    { exit: 1 },
  ]);
  expect(run).not.toHaveBeenCalled();
});

it('prints an unexpected error at the client, and serves the next one', async () => {
  const { address } = await serve(async ({ command }) => {
    if (command === 'bad') throw new TypeError('No such thing.');
  });
  expect(await call(address, 'bad')).toMatchObject({ code: 1, stderr: expect.stringContaining('No such thing.') });
  expect(await call(address, 'good')).toMatchObject({ code: 0, stderr: '' });
});

it('disconnects a client that sends no request', async () => {
  const { address } = await serve(async () => {}, { requestWithinMs: 1 });
  await closed((await connected(address)).resume());
});

it('ends the command of a client that disconnects, at its next step', async () => {
  const [started, gone, ended] = [1, 2, 3].map(() => Promise.withResolvers<unknown>());
  const { address } = await serve(async (_, { startProgress }) => {
    const { report, end } = startProgress('Working');
    started?.resolve(undefined);
    try {
      for (;;) {
        await gone?.promise;
        report('a step');
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      end();
      ended?.resolve(error);
    }
  });
  const socket = await connected(address);
  socket.write('{"command":"reconcile","args":[],"folder":"/"}\n');
  await started?.promise;
  socket.destroy();
  gone?.resolve(undefined);
  expect(await ended?.promise).toEqual(new Error('The operator has ended the command.'));
});

it('disconnects a client that does not read its output', async () => {
  const ended = Promise.withResolvers<unknown>();
  const { address } = await serve(async (_, { print }) => {
    try {
      for (;;) {
        print('x'.repeat(100_000));
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      ended.resolve(error);
      throw error;
    }
  });
  const socket = (await connected(address)).pause();
  socket.write('{"command":"dead-letters show","args":[],"folder":"/"}\n');
  expect(await ended.promise).toEqual(new Error('The operator has ended the command.'));
});

it('ends a running command with a sentence when it stops, and waits for its step', async () => {
  const [started, step] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const steps: string[] = [];
  const { address, stop } = await serve(async (_, { print }) => {
    started.resolve();
    await step.promise;
    steps.push('the step ends');
    print('more');
  });
  const idle = await connected(address);
  const ended = call(address, 'reconcile');
  await started.promise;
  const stopped = stop().then(() => steps.push('the server has stopped'));
  expect(await ended).toMatchObject({
    ...{ code: 1, stdout: '' },
    stderr: expect.stringMatching(/^The service stops, and has ended this command between two steps\./),
  });
  step.resolve();
  await stopped;
  expect(steps).toEqual(['the step ends', 'the server has stopped']);
  await closed(idle.resume());
  await expect(connected(address)).rejects.toThrow('ENOENT');
});

it('reports a service that ends before the command', async () => {
  const address = join(createTemporaryFolder(), 'commands.sock');
  const server = createServer((socket) => void socket.once('data', () => socket.end('{"print":"a row"}\n')));
  await new Promise<void>((resolve) => server.listen(address, resolve));
  onTestFinished(() => void server.close());
  const { terminal, result } = recordingTerminal();
  const ended = runInService(await connected(address), { command: 'orgs list', args: [], folder: '/' }, terminal);
  await expect(ended).rejects.toThrow(Problem);
  expect(result).toEqual({ code: 0, stdout: 'a row\n', stderr: '' });
});
