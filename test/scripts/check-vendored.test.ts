import { expect, it } from 'vitest';
import { faultsOf, readSource, vendoredSha256 } from '../../scripts/check-vendored.ts';

const source = readSource();

it('the vendored script has a release, a file and the SHA-256 of the script in the repository', () => {
  expect(source).toMatchObject({
    release: expect.stringMatching(/^@scalar.api-reference@\d+\.\d+\.\d+$/),
    file: expect.stringMatching(/\.js$/),
  });
  expect(vendoredSha256()).toBe(source.sha256);
});

it.each([
  ['the script was changed', 'other', source.sha256, [/^The script has the SHA-256 other, and SOURCE\.md says/]],
  ['the registry has another file', source.sha256, 'other', [/ in the registry has the SHA-256 other, not /]],
  ['nothing was changed', source.sha256, source.sha256, []],
])('the weekly check finds it if %s', (_, vendored, released, faults) => {
  expect(faultsOf(source, vendored, released)).toEqual(faults.map((fault) => expect.stringMatching(fault)));
});
