/** The bytes of a part of a text. An item holds 400 KB; a text may be larger. */
const partBytes = 300_000;

/** Splits a text between characters into parts that fit into an item; none for the empty text. */
export function partsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const parts: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(from + partBytes, bytes.length);
    // In UTF-8, bytes 10xxxxxx continue a character.
    while (to < bytes.length && ((bytes[to] as number) & 0xc0) === 0x80) to--;
    parts.push(bytes.toString('utf8', from, to));
    from = to;
  }
  return parts;
}

/** Returns the start of a text: as many whole characters as fit into a number of bytes. */
export function startInBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return text;
  let end = bytes;
  // In UTF-8, bytes 10xxxxxx continue a character.
  while (((encoded[end] as number) & 0xc0) === 0x80) end--;
  return encoded.toString('utf8', 0, end);
}
