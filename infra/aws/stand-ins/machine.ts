/**
 * Stands in, with `getInstanceMetadataRegion`, for what the SDK knows of the machine that it runs on beside the
 * environment: `loadSharedConfigFiles` of `@smithy/core` reads `~/.aws`. In a container of Lambda's there is none, and
 * nobody who could write one.
 */
export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });

/** A machine of EC2 can be asked where it is. Lambda says so in AWS_REGION, and has nothing there to ask. */
export const getInstanceMetadataRegion = async () => undefined;

/** How names are parted in those files, which what reads sessions of single sign-on takes from the same place. */
export const CONFIG_PREFIX_SEPARATOR = '.';
