import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, type ITable, ProjectionType, StreamViewType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Effect, type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { tableSchema } from '../../../lib/deployment/table-schema.ts';
import type { Settings, Tags } from '../settings.ts';

const reads = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'];

/** A transaction needs the rights of the writes it is made of; none is allowed beyond those. */
const writes = [
  'dynamodb:BatchWriteItem',
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
  'dynamodb:DeleteItem',
  'dynamodb:ConditionCheckItem',
];

/**
 * The partitions of tokens, as `lib/table/keys.ts` spells them, where `*` is anything: the tokens themselves, and
 * each organization's list of its own.
 */
export const tokenPartitions = ['TOK#*', 'O#*#TOK'];

/** The partitions of the token buckets of requests, likewise. */
export const requestBuckets = 'O#*#RL';

const text = (name: string) => ({ name, type: AttributeType.STRING });

/**
 * The table of the contract's `tableSchema`, billed on demand. It is a global table of one Region, to which replicas in
 * other Regions can be added later (docs/decisions/13-settings-are-files-and-a-deploy-compares-the-data.md). Its grants
 * are narrower than the CDK's own: no scan, no index, no stream comes with a read.
 */
export class ServiceTable extends TableV2 {
  /** The table that the service runs on: this one, or an existing one instead. */
  readonly inUse: ITable;

  /**
   * @param ephemeral whether the table is deleted with the stack; otherwise it is kept
   * @param restoredStream of the existing table to run on
   */
  constructor(
    scope: Construct,
    id: string,
    { ephemeral, restoredStream, tags }: Pick<Settings, 'ephemeral' | 'restoredStream'> & { tags: Tags },
  ) {
    const { partitionKey, sortKey, expiry, dueIndex } = tableSchema;
    super(scope, id, {
      partitionKey: text(partitionKey),
      sortKey: text(sortKey),
      billing: Billing.onDemand(),
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: expiry,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: !ephemeral,
      removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      // A table has the tags of its replica: CloudFormation gives it none of the stack's.
      tags: Object.entries(tags).map(([key, value]) => ({ key, value })),
      globalSecondaryIndexes: [
        {
          indexName: dueIndex.name,
          partitionKey: text(dueIndex.partitionKey),
          sortKey: text(dueIndex.sortKey),
          projectionType: ProjectionType.KEYS_ONLY,
        },
      ],
    });
    this.inUse = restoredStream ? existing(scope, restoredStream) : this;
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

  /** Lets a function that only reads count the requests that it is sent. */
  allowRequestCounts(grantee: IGrantable): void {
    this.state(grantee, Effect.ALLOW, ['dynamodb:UpdateItem'], {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [requestBuckets] },
    });
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

/**
 * Returns the existing table that a stream belongs to. Its id is the one that the stack's own table had before 22 November
 * 2026: the id of the stream's event source mapping is made of it, and Lambda refuses a second mapping of the same stream.
 */
function existing(scope: Construct, tableStreamArn: string): ITable {
  const tableArn = tableStreamArn.replace(/\/stream\/.*$/, '');
  return TableV2.fromTableAttributes(scope, 'Table', { tableArn, tableStreamArn });
}

/**
 * Holds where any item of the call is a token's. It stands in denials: in a batch or transaction one such item is
 * enough, and a call whose keys are not told to IAM is not refused by mistake.
 */
const onTokens = { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': tokenPartitions } };
