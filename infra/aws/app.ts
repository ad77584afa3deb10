import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { bundleFunctions } from './bundle.ts';
import { rejectOtherData, withAllowedModels } from './deployed/deployed-data.ts';
import { ServiceStack } from './service-stack.ts';
import { readStackSettings, type StackSettings, withDefaultModel } from './settings.ts';
import { stageOf } from './stage.ts';

// The argument, the folder of the settings files, is for tests only.
const [folder] = process.argv.slice(2);

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
const settings = await settingsOfDeploy();
new ServiceStack(app, { bundles: await bundleFunctions('.build/functions'), settings });

/** Reads the settings. Ends this process with an error message if they are invalid. */
async function settingsOfDeploy(): Promise<StackSettings> {
  try {
    const read = readStackSettings(stageOf(app.node), folder);
    // The CDK sets the region of the deploy, and the account if the shell has AWS credentials. A deploy needs both.
    const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;
    if (account && region) {
      process.env.AWS_REGION = region;
      return withDefaultModel(withAllowedModels(read, await rejectOtherData(read)), region);
    }
    return withDefaultModel(read, region);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}
