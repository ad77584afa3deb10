/** Stub of the SDK's reader of `~/.aws`: Lambda has no such files, and a client looks for them before its first request. */
export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });

/** Another file of the SDK imports it from the reader. */
export const CONFIG_PREFIX_SEPARATOR = '.';
