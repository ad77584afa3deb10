/**
 * Sets an entry of a map that keeps at most `most` entries. If it is full, the entry that was added first makes room. An entry
 * that exists keeps its place.
 */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value as Key);
}
