import { decryptSecret, encryptSecret, type SecretOwner } from '../aws/secrets.ts';
import { processContext } from '../context/context.ts';
import { checkTable } from '../table/check-table.ts';

/** The text that is encrypted and decrypted to check the key, and its owner, which no organization can be. */
const sampleText = 'start check';
const sampleOwner: SecretOwner = { organization: '-', webhook: '-' };

/**
 * Checks that a function can read the table and encrypt secrets.
 *
 * @returns an encrypted sample, for functions that decrypt
 */
export async function checkEncryption(): Promise<string> {
  const context = processContext();
  await checkTable(context);
  return encryptSecret(context, sampleText, sampleOwner);
}

/**
 * Checks that a function can read the table, and decrypt a sample if there is one.
 *
 * @throws Error if the sample has another text
 */
export async function checkDecryption(sample: string | undefined): Promise<undefined> {
  const context = processContext();
  await checkTable(context);
  if (sample === undefined) return;
  if ((await decryptSecret(context, sample, sampleOwner)) !== sampleText)
    throw new Error('The key decrypts another text than was encrypted.');
}
