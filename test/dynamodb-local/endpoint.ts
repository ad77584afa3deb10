/**
 * The address of the DynamoDB Local that this worker of the tests uses; absent if the tests run on the local table. Each of the
 * programs that `npm run test:dynamodb-local` starts handles one command at a time, so each worker has one of its own.
 */
export const dynamodbLocal = endpointOf(process.env.DYNAMODB_LOCAL_ENDPOINTS, Number(process.env.VITEST_POOL_ID ?? 1));

/**
 * Whether the table counts fewer capacity units than DynamoDB documents: DynamoDB Local counts none for a query without items and
 * those of one item for a transaction. The local table counts as documented
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html).
 */
export const countsFewerUnits = dynamodbLocal !== undefined;

/** Returns the address for a worker, of which the first has the number 1. `endpoints` are separated by commas. */
function endpointOf(endpoints: string | undefined, worker: number): string | undefined {
  const all = endpoints?.split(',') ?? [];
  return all[(worker - 1) % all.length];
}
