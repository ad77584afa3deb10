import { runProgram } from './command.ts';
import { program } from './program.ts';

// `npm run crewboard`, and the npm scripts that are named after commands.
await runProgram(program);
