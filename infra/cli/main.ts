import { runProgram } from './command.ts';
import { program } from './program.ts';

// `npm run crewboard`, and each command's own script.
await runProgram(program);
