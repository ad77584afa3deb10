/**
 * Waits until all calls have ended, also after one has failed: what goes on could still write when the caller tries again.
 *
 * @throws the first error in the order of the calls
 */
export async function allEnded(calls: readonly unknown[]): Promise<void> {
  const ended = await Promise.allSettled(calls);
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}
