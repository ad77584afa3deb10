/**
 * The longest time that a response waits for a report. Lambda then freezes the container; the report continues with its
 * next request.
 */
const reportWaitMs = 250;

/** Waits until a report that a request has started is written, but not for long. The report must not reject. */
export async function waitForReport(report: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, reportWaitMs);
  await Promise.race([report, late.promise]);
  clearTimeout(timer);
}
