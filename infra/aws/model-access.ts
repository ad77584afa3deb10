import { PolicyStatement } from 'aws-cdk-lib/aws-iam';

/**
 * The right to ask models: any, for an agent names its own, be it a foundation model, an inference profile of several
 * regions or one that the account has made. What the account has no access to is not given here either.
 *
 * @param emulator AWS takes this right for Converse, and knows none of that name; the emulator asks for one
 */
export function mayAskModels(emulator: boolean): PolicyStatement {
  return new PolicyStatement({
    actions: ['bedrock:InvokeModel', ...(emulator ? ['bedrock:Converse'] : [])],
    resources: ['*'],
  });
}
