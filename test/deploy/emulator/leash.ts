import { type SpawnOptions, spawn } from 'node:child_process';

/** A running program and its child processes. `ended` resolves with its exit code. */
export type Leashed = { ended: Promise<number>; hasEnded: () => boolean; stop: () => Promise<void> };

/**
 * The shell waits on its standard input, a pipe that the operating system closes with this process. It then ends the
 * program and its group, and kills the remaining processes after ten seconds.
 */
const script = `exec 3<&0
"$@" </dev/null & program=$!
trap : TERM
(trap : TERM
cat <&3 >/dev/null
kill 0
tries=0
while kill -0 $program 2>/dev/null && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
kill -9 0) &
wait $program; code=$?
while kill -0 $program 2>/dev/null; do wait $program; code=$?; done
exit $code`;

/**
 * Starts a program in its own process group. It ends with this process, and Ctrl-C in a terminal does not reach it.
 *
 * @param output the descriptor of a file for its output, or `inherit`
 */
export function startLeashed(
  [program, ...args]: [string, ...string[]],
  { output, ...options }: Pick<SpawnOptions, 'cwd' | 'env'> & { output: number | 'inherit' },
): Leashed {
  const child = spawn('/bin/sh', ['-c', script, 'sh', program, ...args], {
    ...options,
    detached: true,
    stdio: ['pipe', output, output],
  });
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  return {
    ended,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    stop: async () => {
      child.stdin?.end();
      await ended;
    },
  };
}
