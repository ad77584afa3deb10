const begin = '// Generated from the contract by `npm run generate`. Change the contract, not these types.';
const end = '// End of the generated types.';

/**
 * Returns a source with another generated part. The part is between two comments, so that a file can have types of the
 * contract and code that is written by hand, and can be copied alone.
 *
 * @throws Error if the source does not have the two comments
 */
export function withGeneratedPart(source: string, part: string): string {
  const [before, , after] = source.split(new RegExp(`^(${begin}\n[^]*?^${end})$`, 'm'));
  if (before === undefined || after === undefined) throw new Error(`The source has no lines "${begin}" and "${end}".`);
  return `${before}${begin}\n\n${part}\n${end}${after}`;
}
