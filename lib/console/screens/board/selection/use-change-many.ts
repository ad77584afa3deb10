import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { createClient } from '../../../../client/client.ts';
import type { TaskListItem, TaskStatus } from '../../../../client/operations.ts';
import { useNotices } from '../../../components/notices.tsx';
import { useSession } from '../../../session.ts';
import { cachedTask } from '../cached-tasks.ts';
import type { Move } from '../slots.ts';
import type { Filters } from '../tasks.ts';
import { type Action, carryOut, reasonOf, retryAfterMs, textsOf } from './actions.ts';
import { closeFor, type Gate, type Outcome, runMany } from './run-many.ts';

/** An action on several tasks that runs. */
export type Progress = {
  doing: string;
  ended: number;
  total: number;
  /** How long the service asks to wait, in seconds; 0 if it does not. */
  waitSeconds: number;
  isStopping: boolean;
};

/** What an action on several tasks has done, and why not the rest. */
export type Report = { summary: string; failed: readonly { task: TaskListItem; reason: string }[] };

/** Actions on several tasks: one runs at a time. */
export type ManyChanges = {
  progress: Progress | undefined;
  report: Report | undefined;
  closeReport: () => void;
  run: (action: Action, tasks: readonly TaskListItem[]) => void;
  /** Ends the action after the requests that are under way. */
  stop: () => void;
};

type Board = {
  filters: Filters;
  /** Shows tasks in another column before the service confirms that, until `hide` is called. */
  show: (moves: readonly Move[]) => void;
  hide: (ids: readonly string[]) => void;
  /** Called at the end with the ids of the tasks that are as the user wants them. */
  onDone: (ids: readonly string[]) => void;
};

/**
 * Returns the function that changes or deletes several tasks. It goes on when the user leaves the board, and then says the result in a
 * notice.
 */
export function useChangeMany({ filters, show, hide, onDone }: Board): ManyChanges {
  const { token } = useSession();
  const queries = useQueryClient();
  const { say, fail } = useNotices();
  const [progress, setProgress] = useState<Progress>();
  const [report, setReport] = useState<Report>();
  const stopping = useRef<AbortController>(undefined);
  const isShown = useIsShown();

  async function run(action: Action, tasks: readonly TaskListItem[]): Promise<void> {
    if (stopping.current) throw new Error('Other tasks are being changed. Wait until that has ended, or stop it.');
    stopping.current = new AbortController();
    const { doing, done } = textsOf(action);
    const change = (changed: Partial<Progress>) => setProgress((now) => now && { ...now, ...changed });
    const gate: Gate = {
      opensAt: 0,
      now: Date.now,
      stopped: stopping.current.signal,
      sleep: async (milliseconds, stopped) => {
        change({ waitSeconds: Math.ceil(milliseconds / 1000) });
        await sleep(milliseconds, stopped);
        change({ waitSeconds: 0 });
      },
    };
    // When this client waits before it repeats a request, all tasks wait.
    const client = createClient({ url: location.origin, token, wait: (milliseconds) => closeFor(gate, milliseconds) });
    const seen = tasks.map((task) => cachedTask(queries, filters, task.id) ?? task);
    const to = action.kind === 'change' ? action.patch.status : undefined;
    setReport(undefined);
    setProgress({ doing, ended: 0, total: seen.length, waitSeconds: 0, isStopping: false });
    if (to) show(movesTo(to, seen));
    const outcome = await runMany(gate, seen, {
      act: (task) => carryOut(client, gate, action, task),
      retryAfterMs,
      onEnd: ({ id }, error) => {
        setProgress((now) => now && { ...now, ended: now.ended + 1 });
        if (error !== undefined) hide([id]);
      },
    });
    stopping.current = undefined;
    hide(outcome.left.map(({ id }) => id));
    onDone(outcome.done.map(({ id }) => id));
    const text = summaryOf(outcome, done);
    const failed = outcome.failed.map(({ item, error }) => ({ task: item, reason: reasonOf(error) }));
    if (outcome.done.length === seen.length) say(text);
    else if (isShown.current) setReport({ summary: text, failed });
    else fail(new Error([text, ...noticeOf(failed)].join(' ')));
    setProgress(undefined);
    // Lists of executions have the titles of tasks.
    void queries.invalidateQueries({ queryKey: ['executions'] });
    await queries.invalidateQueries({ queryKey: ['tasks'] });
    hide(outcome.done.map(({ id }) => id));
  }

  return {
    progress,
    report,
    closeReport: () => setReport(undefined),
    run: (action, tasks) => void run(action, tasks).catch(fail),
    stop: () => {
      setProgress((now) => now && { ...now, isStopping: true });
      stopping.current?.abort();
    },
  };
}

/** Returns whether the component is still on the page, for what ends later. */
function useIsShown(): { readonly current: boolean } {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}

function movesTo(to: TaskStatus, tasks: readonly TaskListItem[]): readonly Move[] {
  return tasks.filter(({ status }) => status !== to).map((task) => ({ task, to }));
}

/** The largest number of tasks that a notice names. */
const mostNamed = 5;

/** Returns the sentences of a notice about tasks that an action has not changed. */
function noticeOf(failed: Report['failed']): string[] {
  const others = failed.length - mostNamed;
  return [
    ...failed.slice(0, mostNamed).map(({ task, reason }) => `“${task.title}”: ${reason}`),
    ...(others > 0 ? [`And ${others} more.`] : []),
  ];
}

/**
 * Returns sentences that say with how many tasks an action was done, such as `97 of 100 tasks were deleted.`, and how many it was not
 * begun with.
 */
function summaryOf({ done, failed, left }: Outcome<unknown>, text: string): string {
  const total = done.length + failed.length + left.length;
  const count = done.length === total ? `${total}` : `${done.length} of ${total}`;
  const stopped = `You have stopped before ${left.length === 1 ? '1 other was' : `${left.length} others were`} begun.`;
  return `${count} ${total === 1 ? 'task was' : 'tasks were'} ${text}.${left.length > 0 ? ` ${stopped}` : ''}`;
}

/** Waits, unless a signal aborts. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
