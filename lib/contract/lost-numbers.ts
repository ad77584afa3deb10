import { isNested, maxDepth } from './depth.ts';

/**
 * What a text of JSON has if it has a number that JavaScript cannot represent: 16 digits of a whole number, or an exponent of
 * three digits. Most texts have neither, and are not parsed again.
 */
const mayLose = /\d{16}|[eE][+-]?\d{3}/;

/** Stands for a number that `JSON.parse` would change. */
const lost = Symbol('lost');

/** Members deeper than any valid one are not searched: a free-form member, and a message of MCP around it. */
const longestPath = maxDepth + 3;

/**
 * Returns the paths of the numbers in a text of JSON that `JSON.parse` changes: whole numbers, without fraction and exponent,
 * beyond ±9,007,199,254,740,991, and numbers that become infinite. Other numbers can lose digits, as everywhere in JSON.
 *
 * @param json well-formed JSON
 */
export function lostNumbers(json: string): string[][] {
  if (!mayLose.test(json)) return [];
  let found = 0;
  let root: unknown;
  try {
    root = JSON.parse(json, (_: string, value: unknown, { source = '' }: { source?: string } = {}) => {
      if (typeof value !== 'number' || !isLost(value, source)) return value;
      found++;
      return lost;
    });
  } catch {
    // The text is nested deeper than the call stack, and so deeper than any valid member.
    return [];
  }
  return found > 0 ? pathsIn(root) : [];
}

function isLost(value: number, source: string): boolean {
  return !Number.isFinite(value) || (!Number.isSafeInteger(value) && /^-?\d+$/.test(source));
}

function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (value === lost) return [path];
  if (!isNested(value) || path.length === longestPath) return [];
  return Object.entries(value).flatMap(([name, one]) => pathsIn(one, [...path, name]));
}
