import { spawn } from 'node:child_process';

/**
 * A program that runs the engine, with the engine's path and arguments as its own, and kills the engine when its standard
 * input ends. That is a pipe to the service, which the operating system closes with the service, also after a kill. The
 * guard ends with the engine. It is JavaScript, because Node.js needs 12 MB more memory to run TypeScript.
 */
const [program = '', ...args] = process.argv.slice(2);
const engine = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], windowsHide: true });
engine.once('error', (error) => {
  console.error(error);
  process.exit(1);
});
engine.once('exit', (code) => process.exit(code ?? 1));
process.stdin.resume().once('close', () => engine.kill());
