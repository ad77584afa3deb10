import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** What vitest's JSON reporter says of a run. */
type Report = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTotalTests: number;
  success: boolean;
};

const reports = process.argv.slice(2).flatMap((path) => {
  try {
    return [JSON.parse(readFileSync(path, 'utf8')) as Report];
  } catch {
    // What never came to its tests has none to count, and is a failure all the same.
    console.error(`There is no report ${basename(path)}.`);
    process.exitCode = 1;
    return [];
  }
});
const sum = (count: (report: Report) => number) => reports.reduce((total, report) => total + count(report), 0);

const passed = sum((report) => report.numPassedTests);
const failed = sum((report) => report.numFailedTests);
const skipped = sum((report) => report.numPendingTests);

if (reports.some((report) => report.numTotalTests === 0)) {
  console.error('A suite ran no test.');
  process.exitCode = 1;
}
if (reports.some((report) => !report.success)) process.exitCode = 1;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
