import { expect } from 'vitest';

/** A secret of a webhook that is nowhere by chance. */
export const secret = 'whsec_TXktdmVyeS1vd24tc2VjcmV0LW5vYm9keS1lbHNlcw==';

/** The spellings by which the secret can be recognized. */
const spellings = [
  secret,
  secret.slice('whsec_'.length, -2),
  Buffer.from(secret, 'utf8').toString('base64').slice(0, -3),
  Buffer.from(secret, 'utf8').toString('hex'),
  Buffer.from(secret.slice('whsec_'.length), 'base64').toString('utf8'),
];

export function expectKept(text: string): void {
  for (const spelling of spellings) expect(text).not.toContain(spelling);
}
