/** Returns whether a text is an id with a prefix. */
export function isId(prefix: string, text: string): boolean {
  return new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`).test(text);
}
