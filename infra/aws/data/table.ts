import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  type ITable,
  ProjectionType,
  StreamViewType,
  TableV2,
  type WarmThroughput,
} from 'aws-cdk-lib/aws-dynamodb';
import { Effect, type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { tableSchema } from '../../../lib/names/table-schema.ts';
import type { DeploySettings, Tags } from '../settings.ts';

const reads = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'];

/** The actions of writes. A transaction needs the actions of its writes and no others. */
const writes = [
  'dynamodb:BatchWriteItem',
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
  'dynamodb:DeleteItem',
  'dynamodb:ConditionCheckItem',
];

/**
 * The partition keys of tokens in `lib/table/access/keys.ts`, with `*` as a wildcard: the tokens, and the list of tokens of each
 * organization.
 */
export const tokenPartitions = ['TOK#*', 'O#*#TOK'];

/** The partition key of the item that is always absent, likewise. */
export const absentPartition = 'CHECK';

/** The partition keys of the request counts and of the last uses of tokens, likewise. */
export const requestBuckets = 'O#*#RL';

const text = (name: string) => ({ name, type: AttributeType.STRING });

/**
 * The table with the schema of `lib/names/table-schema.ts`, billed on demand. It is a global table of one Region, to
 * which replicas in other Regions can be added later
 * (docs/decisions/13-settings-are-files-and-a-deploy-compares-the-data.md). Its grants are narrower than the CDK's own: a
 * right to read includes no scan, no index and no stream.
 */
export class ServiceTable extends TableV2 {
  /** The table that the service uses: this one, or an existing one. */
  readonly inUse: ITable;

  /**
   * @param ephemeral whether the table is deleted with the stack
   * @param restoredStream the ARN of the stream of an existing table to use
   * @param warmThroughput the units a second that the table can serve at once
   * @param maxWriteRequestUnits the most write units a second, also of the index
   */
  constructor(
    scope: Construct,
    id: string,
    {
      ephemeral,
      restoredStream,
      warmThroughput,
      maxWriteRequestUnits,
      tags,
    }: Pick<DeploySettings, 'ephemeral' | 'restoredStream' | 'warmThroughput' | 'maxWriteRequestUnits'> & {
      tags: Tags;
    },
  ) {
    const { partitionKey, sortKey, expiry, dueIndex } = tableSchema;
    super(scope, id, {
      partitionKey: text(partitionKey),
      sortKey: text(sortKey),
      billing: Billing.onDemand(maxWriteRequestUnits === undefined ? {} : { maxWriteRequestUnits }),
      ...(warmThroughput && { warmThroughput: warmThroughput as WarmThroughput }),
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: expiry,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: !ephemeral,
      removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      // CloudFormation does not add the tags of the stack to a replica of a global table.
      tags: Object.entries(tags).map(([key, value]) => ({ key, value })),
      globalSecondaryIndexes: [
        {
          indexName: dueIndex.name,
          partitionKey: text(dueIndex.partitionKey),
          sortKey: text(dueIndex.sortKey),
          projectionType: ProjectionType.KEYS_ONLY,
          ...(maxWriteRequestUnits !== undefined && { maxWriteRequestUnits }),
        },
      ],
    });
    this.inUse = restoredStream ? existing(scope, restoredStream) : this;
  }

  /** Grants the right to read items and to query the table. */
  allowReads(grantee: IGrantable): void {
    this.state(grantee, Effect.ALLOW, reads);
  }

  /** Grants the right to read the item that is always absent, to check the access to the table. */
  allowCheck(grantee: IGrantable): void {
    this.state(grantee, Effect.ALLOW, ['dynamodb:GetItem'], {
      'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [absentPartition] },
    });
  }

  /** Grants the right to write all items except tokens, which only the command line creates and revokes. */
  allowWrites(grantee: IGrantable): void {
    this.state(grantee, Effect.ALLOW, writes);
    this.state(grantee, Effect.DENY, writes, onTokens);
  }

  /** Grants a function that only reads the right to count its requests and to note the use of tokens. */
  allowRequestCounts(grantee: IGrantable): void {
    this.state(grantee, Effect.ALLOW, ['dynamodb:UpdateItem'], {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [requestBuckets] },
    });
  }

  /** Denies a function of the pipeline the right to read tokens. */
  hideTokens(grantee: IGrantable): void {
    this.state(grantee, Effect.DENY, reads, onTokens);
  }

  /** Grants the right to query the index of due work. */
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
 * Returns the existing table of a stream. Its construct id is the id of the stack's own table before 22 November 2026. The id
 * of the stream's event source mapping contains it, and Lambda rejects a second mapping of the same stream.
 */
function existing(scope: Construct, tableStreamArn: string): ITable {
  const tableArn = tableStreamArn.replace(/\/stream\/.*$/, '');
  return TableV2.fromTableAttributes(scope, 'Table', { tableArn, tableStreamArn });
}

/**
 * The condition that any item of a call is a token. It is used in Deny statements: one such item in a batch or transaction
 * is enough, and a call whose keys IAM does not know is not denied.
 */
const onTokens = { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': tokenPartitions } };
