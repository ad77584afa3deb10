import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The end of a process, and its whole output. */
export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };

/** Node's cache of compiled code, shared by all starts: without it, compilation is most of the time of a start. */
const NODE_COMPILE_CACHE = join(tmpdir(), 'crewboard-compile-cache');

/** Starts a program of the repository. `onOutput` is called with each text that the program prints. */
export function startProgram(
  args: string[],
  environment: Record<string, string>,
  onOutput: (text: string) => void = () => {},
) {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE, ...environment };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
      onOutput(text);
    });
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, ...output })),
  );
  return { child, output, ended };
}

/** Returns the arguments that `npm start` of a checkout gives Node.js. */
export function startArguments(checkout = '.'): string[] {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const [node, ...args] = (scripts.start as string).split(' ');
  if (node !== 'node') throw new Error(`npm start runs ${node} and not node.`);
  return args;
}

/** The data folder, further environment variables, options for Node itself, and a function that gets the output. */
export type ServiceOptions = {
  dataFolder: string;
  environment?: Record<string, string>;
  nodeOptions?: string[];
  onOutput?: (text: string) => void;
};

/** The address that the service prints, and the access token in its data folder. */
export type Address = { url: string; token: string };

/**
 * Starts the service on a free port, as `npm start` does.
 *
 * @returns the process; `ready` resolves when the service is ready, with undefined when it ends before
 */
export function startService({ dataFolder, environment, nodeOptions = [], onOutput = () => {} }: ServiceOptions) {
  const { promise: ready, resolve } = Promise.withResolvers<Address | undefined>();
  let isReady = false;
  const settings = { PORT: '0', CREWBOARD_DATA: dataFolder, ...environment };
  const started = startProgram([...nodeOptions, ...startArguments()], settings, (text) => {
    onOutput(text);
    const { stdout } = started.output;
    if (isReady || !/^ready$/m.test(stdout)) return;
    isReady = true;
    const url = /^Crewboard is at (\S+)$/m.exec(stdout)?.[1] as string;
    const token = readFileSync(join(dataFolder, 'token'), 'utf8').trim();
    resolve({ url, token });
  });
  started.ended.then(() => resolve(undefined));
  return { ...started, ready };
}
