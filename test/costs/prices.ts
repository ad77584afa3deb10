/** A price of AWS's list. */
export type Price = {
  what: string;
  dollars: number;
  per: string;
  units: number;
  /** The items that are free each month without end, once in each account. */
  free?: number;
  /** The source: a page of AWS, or another page that quotes AWS's list, and its date. */
  seen: string;
};

/** The public price list, without tax, discounts and plans. */
export const priceList = { region: 'us-east-1', date: '2026-11-22' } as const;

/** Pages that quote the list. */
const cloudchipr = 'cloudchipr.com/blog/aws-lambda-pricing (2024)';
const airbyte = 'airbyte.com/data-engineering-resources/dynamodb-pricing (July 2025)';
const apiPage = 'docs.aws.amazon.com/whitepapers, Best Practices for Designing Amazon API Gateway (AWS)';
const sqsPage = 'cloudburn.io/blog/amazon-sqs-pricing (March 2026)';
const kmsPage = 'aws.amazon.com/kms/pricing (AWS)';
const kmsUses = 'wring.co/blog/aws-kms-pricing-guide (March 2026)';
const logPage = 'c3x.dev/blog/cloudwatch-logs-cost-optimization (June 2026)';
const metricPage = 'aws.amazon.com/cloudwatch/pricing (the free ones) (AWS; the price itself not verified)';
const schedulerList = 'price list of AWSEvents (AWS, 2024; the free ones, the price of us-east-1 not verified)';

/** The units of prices. */
const million = { per: 'million', units: 1e6 };
const gbSecond = { per: 'GB-second', units: 1 };
const tenThousand = { per: '10,000 requests', units: 10_000 };
const alarm = { per: 'metric of an alarm and month', units: 1 };
const metric = { per: 'metric and month', units: 1 };
const millionOf = (what: string) => ({ per: `million ${what}`, units: 1e6 });

/** The prices that the service pays, in the first tier of each. */
export const prices = {
  apiRequest: { what: 'API Gateway, HTTP API', dollars: 1, ...millionOf('requests of 512 KB'), seen: apiPage },
  call: { what: 'Lambda, calls', dollars: 0.2, ...million, free: 1e6, seen: cloudchipr },
  scheduledCall: {
    ...{ what: 'EventBridge Scheduler, calls', dollars: 1, ...million, free: 14e6, seen: schedulerList },
  },
  gigabyteSecond: {
    ...{ what: 'Lambda on arm64, time', dollars: 0.0000133334, ...gbSecond, free: 400_000, seen: cloudchipr },
  },
  readUnit: { what: 'DynamoDB on demand, reads', dollars: 0.125, ...millionOf('read units'), seen: airbyte },
  writeUnit: { what: 'DynamoDB on demand, writes', dollars: 0.625, ...millionOf('write units'), seen: airbyte },
  queueRequest: {
    ...{ what: 'SQS, standard queues', dollars: 0.4, ...millionOf('requests of 64 KB'), free: 1e6, seen: sqsPage },
  },
  key: { what: 'KMS, a key', dollars: 1, per: 'month', units: 1, seen: kmsPage },
  keyUse: { what: 'KMS, requests', dollars: 0.03, ...tenThousand, free: 20_000, seen: kmsUses },
  logGigabyte: { what: 'CloudWatch Logs, ingestion', dollars: 0.5, per: 'GB', units: 1e9, free: 5e9, seen: logPage },
  alarmMetric: { what: 'CloudWatch, alarms', dollars: 0.1, ...alarm, free: 10, seen: metricPage },
  customMetric: { what: 'CloudWatch, custom metrics', dollars: 0.3, ...metric, free: 10, seen: metricPage },
} as const satisfies Record<string, Price>;

export type PriceName = keyof typeof prices;

/** Returns the cost of items in dollars; `free` subtracts the free items. */
export function costOf(name: PriceName, count: number, { free = false } = {}): number {
  const price: Price = prices[name];
  const paid = Math.max(0, count - (free ? (price.free ?? 0) : 0));
  return (paid * price.dollars) / price.units;
}
