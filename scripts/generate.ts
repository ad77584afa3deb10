import { writeFileSync } from 'node:fs';
import { openApiDocument } from '../lib/openapi/document.ts';
import { clientSource } from '../lib/openapi/typescript.ts';

/** `npm run generate`: writes down what is made of the contract and kept beside it. Tests hold each file to it. */
const document = openApiDocument();
writeFileSync('docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`);
writeFileSync('lib/client/operations.ts', clientSource(document));
