import { accessSync, constants } from 'node:fs';
import { expect, it } from 'vitest';
import { findEngine } from '../../../../infra/local/engine/find-engine.ts';

it('finds the program of this platform, which can be executed', () => {
  expect(() => accessSync(findEngine(process.platform, process.arch), constants.X_OK)).not.toThrow();
});

it('names the missing package of another platform, how to install it, and DynamoDB Local', () => {
  expect(() => findEngine('darwin', 'arm64')).toThrow(
    /^The table engine's package @dynoxide\/darwin-arm64 is not installed; run npm ci.* DYNAMODB_ENDPOINT=/,
  );
});

it('names a platform that has no package, and DynamoDB Local', () => {
  expect(() => findEngine('freebsd', 'x64')).toThrow(
    /^The table engine has no package for freebsd-x64; start DynamoDB Local .* DYNAMODB_ENDPOINT=/,
  );
});
