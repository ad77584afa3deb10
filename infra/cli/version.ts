import manifest from '../../package.json' with { type: 'json' };

/** The version of the repository and of the package. */
export const { version } = manifest;
