#!/usr/bin/env node
import { endWithReader, runProgram } from '../run-program.ts';
import { apiErrorText } from './api-errors.ts';
import { createApiProgram } from './api-program.ts';

// The program of the package `crewboard`.
const program = createApiProgram(
  'Use Crewboard: its tasks, agents, executions and webhooks',
  'npx crewboard tasks list',
  'npx crewboard agents run builder "Build the landing page." --wait',
).addHelpText(
  'after',
  `
Commands for operators, such as token and settings, are not in this package. Run them in the repository of Crewboard:
  npm run --silent crewboard -- --help`,
);

endWithReader();
await runProgram(program, apiErrorText);
