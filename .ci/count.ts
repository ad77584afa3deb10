import { readFileSync } from 'node:fs';

/** What vitest's JSON reporter says of a run. */
type Report = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTotalTests: number;
  success: boolean;
};

const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')) as Report);
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
