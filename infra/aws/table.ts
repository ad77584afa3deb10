import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  StreamViewType,
  Table,
} from 'aws-cdk-lib/aws-dynamodb';
import { Effect, type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { tableSchema } from '../../lib/contract/deployment.ts';

const reads = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'];

/** A transaction needs the rights of the writes it is made of; none is allowed beyond those. */
const writes = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem', 'dynamodb:ConditionCheckItem'];

/**
 * The partitions of tokens, as `lib/table/keys.ts` spells them, where `*` is anything: the tokens themselves, and
 * each organization's list of its own.
 */
export const tokenPartitions = ['TOK#*', 'O#*#TOK'];

const text = (name: string) => ({ name, type: AttributeType.STRING });

/**
 * The table of the contract's `tableSchema`, billed on demand. Its grants are narrower than the CDK's own: no scan,
 * no index, no stream comes with a read.
 */
export class ServiceTable extends Table {
  /** The table that the service runs on: this one, or one that was restored in its place. */
  readonly inUse: ITable;

  /**
   * @param ephemeral the table and its data go with the stack; otherwise they outlive it
   * @param restoredStream of the table to run on instead
   */
  constructor(
    scope: Construct,
    id: string,
    { ephemeral, restoredStream }: { ephemeral: boolean; restoredStream?: string | undefined },
  ) {
    const { partitionKey, sortKey, expiry, dueIndex } = tableSchema;
    super(scope, id, {
      partitionKey: text(partitionKey),
      sortKey: text(sortKey),
      billingMode: BillingMode.PAY_PER_REQUEST,
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: expiry,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: !ephemeral,
      removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    });
    this.addGlobalSecondaryIndex({
      indexName: dueIndex.name,
      partitionKey: text(dueIndex.partitionKey),
      sortKey: text(dueIndex.sortKey),
      projectionType: ProjectionType.KEYS_ONLY,
    });
    this.inUse = restoredStream ? restored(this, restoredStream) : this;
  }

  /** Lets a function read items and ranges of the table. */
  allowReads(grantee: IGrantable): void {
    this.state(grantee, Effect.ALLOW, reads);
  }

  /** Lets a function write any item but a token: those are made and revoked by the command line alone. */
  allowWrites(grantee: IGrantable): void {
    this.state(grantee, Effect.ALLOW, writes);
    this.state(grantee, Effect.DENY, writes, onTokens);
  }

  /** Keeps tokens from a function that serves no caller and has none to check. */
  hideTokens(grantee: IGrantable): void {
    this.state(grantee, Effect.DENY, reads, onTokens);
  }

  /** Lets a function find what is due. */
  allowDueReads(grantee: IGrantable): void {
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['dynamodb:Query'],
        resources: [`${this.inUse.tableArn}/index/${tableSchema.dueIndex.name}`],
      }),
    );
  }

  private state(grantee: IGrantable, effect: Effect, actions: string[], conditions = {}): void {
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({ effect, actions, resources: [this.inUse.tableArn], conditions }),
    );
  }
}

/** The table that a stream is of. */
function restored(scope: Construct, tableStreamArn: string): ITable {
  const tableArn = tableStreamArn.replace(/\/stream\/.*$/, '');
  return Table.fromTableAttributes(scope, 'Restored', { tableArn, tableStreamArn });
}

/**
 * Holds where any item of the call is a token's. It stands in denials: in a batch or transaction one such item is
 * enough, and a call whose keys are not told to IAM is not refused by mistake.
 */
const onTokens = { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': tokenPartitions } };
