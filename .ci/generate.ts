import { writeFileSync } from 'node:fs';
import { openApiDocument } from '../lib/contract/document.ts';

/** `npm run generate`: writes down what is made of the contract and kept beside it. Tests hold each file to it. */
writeFileSync('docs/openapi.json', `${JSON.stringify(openApiDocument(), null, 2)}\n`);
