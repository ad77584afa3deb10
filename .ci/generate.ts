import { writeFileSync } from 'node:fs';
import { openApiDocument } from '../lib/contract/document.ts';
import { clientSource } from '../lib/contract/typescript.ts';

/** `npm run generate`: writes down what is made of the contract and kept beside it. Tests hold each file to it. */
const document = openApiDocument();
writeFileSync('docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`);
writeFileSync('lib/client/operations.ts', clientSource(document));
