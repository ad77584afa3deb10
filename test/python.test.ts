import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Problem } from '../infra/local/problem.ts';
import { installPrograms, NoPython } from './python.ts';
import { createTemporaryFolder } from './temporary-files.ts';

const folder = createTemporaryFolder();
const requirements = join(folder, 'requirements.txt');
writeFileSync(requirements, 'a-program==1.0.0\n');
const wanted = { what: 'a program', requirements };

/** A program of this name that ends with a code, as Python does with what it is probed by. */
function program(name: string, code: number): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\nexit ${code}\n`, { mode: 0o755 });
  return path;
}

it('says what to install where there is no Python, or none that will do', async () => {
  const pythons = [join(folder, 'none'), program('too-old', 1)];
  const installed = installPrograms(join(folder, 'installed'), wanted, pythons);
  await expect(installed).rejects.toThrow(NoPython);
  await expect(installed).rejects.toThrow(/Python 3\.10 or later with its modules venv and ensurepip.*python3-venv/);
});

it('takes the first Python that will do, and says it where the installation fails', async () => {
  const pythons = [program('old', 1), program('fit', 0)];
  const installed = installPrograms(join(folder, 'installed'), wanted, pythons);
  await expect(installed).rejects.toThrow(Problem);
  await expect(installed).rejects.toThrow(/Cannot install a program/);
});
