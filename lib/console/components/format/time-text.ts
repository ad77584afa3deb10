/** The units of relative times, the longest first, with their lengths in seconds. */
const units = [
  ['day', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** Returns a time relative to now, such as `17 s ago`, `in 3 h`, `2 days ago` or `now`. Both are Unix times, in milliseconds. */
export function relativeTime(at: number, now: number): string {
  const seconds = Math.trunc((at - now) / 1000);
  if (seconds === 0) return 'now';
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['s', 1];
  const count = Math.trunc(Math.abs(seconds) / length);
  const text = `${count.toLocaleString('en')} ${unit === 'day' && count !== 1 ? 'days' : unit}`;
  return seconds < 0 ? `${text} ago` : `in ${text}`;
}

/** Returns a duration in milliseconds in the largest fitting units: `35 ms`, `1.2 s`, `4 min 5 s`, `2 h 10 min`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}
