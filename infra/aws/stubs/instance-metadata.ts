/** Stub of the SDK's request for the region of an EC2 instance: Lambda puts the region into the environment. */
export const getInstanceMetadataRegion = async (): Promise<undefined> => undefined;
