import { geographicProfiles, globalProfile } from '../../../lib/contract/agents/models.ts';

export const allOptions = {
  defaultModel: globalProfile,
  allowedModels: [
    globalProfile,
    ...geographicProfiles,
    'arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/abc123',
  ],
  permissionsBoundary: 'CrewboardBoundary',
  warmThroughput: { readUnitsPerSecond: 20_000, writeUnitsPerSecond: 10_000 },
  maxWriteRequestUnits: 40_000,
  alarmEmail: 'ops@example.com',
  corsOrigins: ['https://board.example'],
  customDomain: {
    name: 'api.example.com',
    certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-0000-1111-2222-333344445555',
    disableExecuteApiEndpoint: true,
  },
  reservedConcurrency: { deliverWebhook: 700, createTask: 20 },
  openTelemetry: {
    layer: 'arn:aws:lambda:eu-central-1:615299751070:layer:AWSOpenTelemetryDistroJs:10',
    variables: { OTEL_TRACES_SAMPLER: 'traceidratio' },
  },
};
