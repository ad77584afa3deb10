import { runWithRequest } from '../../lib/table/access/current-request.ts';
import { apiErrorText } from './api/api-errors.ts';
import { operatorErrorText } from './operator-errors.ts';
import { program } from './program.ts';
import { endWithReader, runProgram } from './run-program.ts';

// `npm run crewboard`.
endWithReader();
await runWithRequest({}, () => runProgram(program, (error) => operatorErrorText(error) ?? apiErrorText(error)));
