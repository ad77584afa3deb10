import { importsOf } from './imports-of.ts';

/** The folders whose subfolders are rooms of their own. */
const parents = ['lib/table', 'lib', 'infra'];

/**
 * Returns the room of a file: a folder that is directly in `lib`, `infra` or `lib/table`, or such a file. The other folders at the
 * top are one room each.
 *
 * @param path the path from the top of the project
 */
export function roomOf(path: string): string {
  const parent = parents.find((each) => path.startsWith(`${each}/`));
  if (parent === undefined) return path.split('/')[0] as string;
  const [name] = path.slice(parent.length + 1).split('/') as [string];
  return name.endsWith('.ts') && parent === 'lib/table' ? parent : `${parent}/${name}`;
}

/**
 * Returns the rooms that import each other, also by others: each list is one circle. Types count.
 *
 * @param files the paths from the top of the project, and the texts
 */
export function circularRooms(files: readonly (readonly [path: string, text: string])[]): string[][] {
  const imported = new Map<string, Set<string>>();
  for (const [path, text] of files) {
    const room = roomOf(path);
    const targets = imported.get(room) ?? new Set();
    imported.set(room, targets);
    for (const target of importsOf(path, text)) if (target.includes('/')) targets.add(roomOf(target));
  }
  const reached = (from: string): Set<string> => {
    const found = new Set<string>();
    const open = [from];
    for (let room = open.pop(); room !== undefined; room = open.pop())
      for (const next of imported.get(room) ?? [])
        if (next !== room && !found.has(next)) {
          found.add(next);
          open.push(next);
        }
    return found;
  };
  const reach = new Map([...imported.keys()].map((room) => [room, reached(room)]));
  const circles: string[][] = [];
  for (const [room, rooms] of reach) {
    if (!rooms.has(room) || circles.some((circle) => circle.includes(room))) continue;
    circles.push([...rooms].filter((other) => reach.get(other)?.has(room)).sort());
  }
  return circles;
}
