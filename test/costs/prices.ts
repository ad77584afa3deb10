/** A price of AWS's list. */
export type Price = {
  what: string;
  dollars: number;
  /** The name of the unit. */
  per: string;
  /** The number of items in a unit. */
  units: number;
  /** The items that are free each month without end, once in each account. */
  free?: number;
  /** The source: a page of AWS, or another page that quotes AWS's list, and its date. */
  seen: string;
};

/** The public price list, without tax, discounts and plans. */
export const priceList = { region: 'us-east-1', date: '2026-11-22' } as const;

/** The prices that the service pays, in the first tier of each. */
export const prices = {
  apiRequest: {
    what: 'API Gateway, HTTP API',
    dollars: 1,
    per: 'million requests of 512 KB',
    units: 1e6,
    seen: 'docs.aws.amazon.com/whitepapers, Best Practices for Designing Amazon API Gateway (AWS)',
  },
  call: {
    what: 'Lambda, calls',
    dollars: 0.2,
    per: 'million',
    units: 1e6,
    free: 1e6,
    seen: 'cloudchipr.com/blog/aws-lambda-pricing (2024)',
  },
  gigabyteSecond: {
    what: 'Lambda on arm64, time',
    dollars: 0.0000133334,
    per: 'GB-second',
    units: 1,
    free: 400_000,
    seen: 'cloudchipr.com/blog/aws-lambda-pricing (2024)',
  },
  readUnit: {
    what: 'DynamoDB on demand, reads',
    dollars: 0.125,
    per: 'million read units',
    units: 1e6,
    seen: 'airbyte.com/data-engineering-resources/dynamodb-pricing (July 2025)',
  },
  writeUnit: {
    what: 'DynamoDB on demand, writes',
    dollars: 0.625,
    per: 'million write units',
    units: 1e6,
    seen: 'airbyte.com/data-engineering-resources/dynamodb-pricing (July 2025)',
  },
  queueRequest: {
    what: 'SQS, standard queues',
    dollars: 0.4,
    per: 'million requests of 64 KB',
    units: 1e6,
    free: 1e6,
    seen: 'cloudburn.io/blog/amazon-sqs-pricing (March 2026)',
  },
  key: {
    what: 'KMS, a key',
    dollars: 1,
    per: 'month',
    units: 1,
    seen: 'aws.amazon.com/kms/pricing (AWS)',
  },
  keyUse: {
    what: 'KMS, requests',
    dollars: 0.03,
    per: '10,000 requests',
    units: 10_000,
    free: 20_000,
    seen: 'wring.co/blog/aws-kms-pricing-guide (March 2026)',
  },
  logGigabyte: {
    what: 'CloudWatch Logs, ingestion',
    dollars: 0.5,
    per: 'GB',
    units: 1e9,
    free: 5e9,
    seen: 'c3x.dev/blog/cloudwatch-logs-cost-optimization (June 2026)',
  },
  alarmMetric: {
    what: 'CloudWatch, alarms',
    dollars: 0.1,
    per: 'metric of an alarm and month',
    units: 1,
    free: 10,
    seen: 'aws.amazon.com/cloudwatch/pricing (the free ones) (AWS; the price itself not verified)',
  },
  customMetric: {
    what: 'CloudWatch, custom metrics',
    dollars: 0.3,
    per: 'metric and month',
    units: 1,
    free: 10,
    seen: 'aws.amazon.com/cloudwatch/pricing (the free ones) (AWS; the price itself not verified)',
  },
} as const satisfies Record<string, Price>;

/** The name of a price. */
export type PriceName = keyof typeof prices;

/** Returns the cost of items in dollars; `free` subtracts the free items. */
export function costOf(name: PriceName, count: number, { free = false } = {}): number {
  const price: Price = prices[name];
  const paid = Math.max(0, count - (free ? (price.free ?? 0) : 0));
  return (paid * price.dollars) / price.units;
}
