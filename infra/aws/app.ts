import { App } from 'aws-cdk-lib';
import { bundleFunctions } from './bundle.ts';
import { isEphemeral, ServiceStack } from './service-stack.ts';

const app = new App();
const bundles = await bundleFunctions('.build/functions');

// A throw-away stack has a name of its own, so that the flag alone can never take the protection off the lasting one.
new ServiceStack(app, isEphemeral(app) ? 'CrewboardEphemeral' : 'Crewboard', { bundles });
