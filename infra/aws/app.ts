import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { bundleFunctions } from './bundle.ts';
import { ServiceStack } from './service-stack.ts';
import { readSettings, type Settings } from './settings.ts';
import { stageOf } from './stage.ts';

// The folder of the settings files is an argument for tests only, which bring their own.
const [folder] = process.argv.slice(2);

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
const settings = settingsOfDeploy();
new ServiceStack(app, { bundles: await bundleFunctions('.build/functions'), settings });

/** Reads the settings, or ends this process with a message that says what is wrong with them. */
function settingsOfDeploy(): Settings {
  try {
    return readSettings(stageOf(app.node), folder);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}
