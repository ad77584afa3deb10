import { fork } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench } from './bench.ts';

/** A child process that sends a message when it is ready, and then answers one question at a time. */
export type Forked<Question, Said> = {
  pid: number;
  /** Waits for its next message, for at most half a minute. */
  nextMessage: <Answer extends Said>() => Promise<Answer>;
  ask: <Answer extends Said>(question: Question) => Promise<Answer>;
};

/** Starts a file as a child process. It must end when its channel does. */
export function forkFile<Question, Said>(
  { atEnd }: Bench,
  file: URL,
  { args = [], env = process.env }: { args?: string[]; env?: NodeJS.ProcessEnv } = {},
): Forked<Question, Said> {
  // Its output is its log.
  const child = fork(fileURLToPath(file), args, {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  atEnd(() => child.connected && child.disconnect());
  const nextMessage = async <Answer extends Said>() => {
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const end = (code: number | null) => reject(new Error(`${basename(file.pathname)} ended with code ${code}.`));
    child.once('exit', end);
    const said = once(child, 'message', { signal: AbortSignal.timeout(30_000) });
    return (await Promise.race([said, ended]).finally(() => child.off('exit', end)))[0] as Answer;
  };
  return {
    pid: child.pid as number,
    nextMessage,
    ask(question) {
      const answer = nextMessage<never>();
      child.send(question as object);
      return answer;
    },
  };
}
