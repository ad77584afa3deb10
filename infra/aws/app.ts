import { App } from 'aws-cdk-lib';
import { bundleFunctions } from './bundle.ts';
import { ServiceStack } from './service-stack.ts';
import { readSettings } from './settings.ts';

const app = new App();
const settings = readSettings(app.node);
new ServiceStack(app, { bundles: await bundleFunctions('.build/functions'), settings });
