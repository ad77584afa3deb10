import { standardStack } from '../../aws/deployed/stack.ts';
import { setStackPolicy } from '../../aws/deployed/stack-policy.ts';
import { command } from '../command.ts';

/** `npm run crewboard -- protect`: sets the stack policy, which `cdk deploy` cannot set. */
export const protect = command(
  'protect',
  'Protect the table and the key of a stack from replacement and deletion by updates; in AWS only',
  'npm run --silent crewboard -- protect --stack Crewboard-prod',
)
  .option('--stack <name>', 'the stack in AWS', standardStack)
  .action(async ({ stack }) => {
    await setStackPolicy(stack);
    console.log(`CloudFormation now denies updates of ${stack} that would replace or delete its table or its key.`);
  });
