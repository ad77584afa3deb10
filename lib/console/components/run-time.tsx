import { durationText } from './format/time-text.ts';
import { useKnownNow } from './time.tsx';

/** The duration of an execution. While it runs, this is a clock. */
export function RunTime({ startedAt, durationMs }: { startedAt: string; durationMs?: number | undefined }) {
  const now = useKnownNow();
  if (durationMs !== undefined) return durationText(durationMs);
  const seconds = Math.max(0, Math.floor((now - Date.parse(startedAt)) / 1_000));
  return <span title="Still running">{seconds < 60 ? `${seconds} s` : durationText(seconds * 1_000)}</span>;
}
