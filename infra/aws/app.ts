import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { bundleFunctions } from './bundle.ts';
import { ServiceStack } from './service-stack.ts';
import { readSettings } from './settings.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
const settings = readSettings(app.node);
new ServiceStack(app, { bundles: await bundleFunctions('.build/functions'), settings });
