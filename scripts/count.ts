import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';

/** The output of vitest's JSON reporter. */
type Report = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTotalTests: number;
  success: boolean;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
};

/** The number of lines of a failure to print: enough for the expected value and the location. */
const SHOWN_LINES = 12;
const head = (text: string) => text.split('\n').slice(0, SHOWN_LINES).join('\n');

const reports = process.argv.slice(2).flatMap((path) => {
  try {
    return [JSON.parse(readFileSync(path, 'utf8')) as Report];
  } catch {
    // A suite without a report ended before its tests: this is a failure.
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

// Repeats the failures, since the failures of each suite are far above the end of the output.
for (const file of reports.flatMap((report) => report.testResults)) {
  const failures = file.assertionResults.filter((test) => test.status === 'failed');
  for (const { fullName, failureMessages } of failures) {
    console.log(`\nFAILED ${relative('.', file.name)} > ${fullName}\n${head(failureMessages.join('\n'))}`);
  }
  // A file that cannot be imported has no failed test.
  if (file.status === 'failed' && failures.length === 0) {
    console.log(`\nFAILED ${relative('.', file.name)}\n${head(file.message)}`);
  }
}
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
