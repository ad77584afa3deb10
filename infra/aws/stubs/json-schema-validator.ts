/**
 * Stub of the validator of the MCP SDK, which includes Ajv: it checks answers of people to forms, and no tool asks for any.
 * Inputs of tools are checked by the endpoints.
 */
export class DefaultJsonSchemaValidator {
  /** @throws `Error` where a server asks for a form */
  getValidator(): never {
    throw new Error('The validator of JSON Schema is not bundled.');
  }
}

export const { process } = globalThis;
