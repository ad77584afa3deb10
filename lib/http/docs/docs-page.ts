import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Content } from '../../contract/endpoint.ts';
import { docsScript, openapi } from '../../contract/open/open.ts';
import { readGuides } from './guides.ts';

/**
 * The configuration of Scalar (github.com/scalar/scalar, documentation/configuration.md). Telemetry and services of
 * third parties are off. The page keeps an entered token in memory only.
 */
const configuration = {
  documentDownloadType: 'none',
  authentication: { preferredSecurityScheme: 'bearer' },
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  customCss: [
    // On narrow screens this button covers the URL of the request; the menu of the page has the same entries.
    '@media (max-width: 767px) { .scalar-client .scalar-sidebar-toggle { display: none } }',
    // The page focuses the section that its URL names; lines around a whole section look like an error.
    '.section:focus-visible { outline: none }',
    // Tables of the guides scroll on narrow screens; the names in them stay readable.
    '.markdown td code { white-space: nowrap }',
  ].join('\n'),
};

/** The guides as the content of a script element: `<` would end it. */
const guides = JSON.stringify(readGuides()).replaceAll('<', '\\u003c');

/**
 * The script that shows the document and the guides. Scalar shows a tag without operations as a text. For optional
 * parameters, Scalar would send an example or the first value of an enumeration: lists would be filtered, and the second
 * POST would fail because of its reused Idempotency-Key. The script therefore disables optional query parameters and
 * headers until the user selects them, and leaves their examples out of the commands to copy. The page links to the
 * unchanged document.
 */
const start = `
fetch('${openapi.path}').then((response) => response.json()).then((api) => {
  const operations = Object.values(api.paths).flatMap(Object.values);
  const parameters = [...Object.values(api.components.parameters), ...operations.flatMap((one) => one.parameters ?? [])];
  for (const parameter of parameters.filter((one) => one.in && one.in !== 'path' && !one.required)) {
    const named = api.components.schemas[parameter.schema.$ref?.split('/').at(-1)];
    const { default: usual, enum: [first] = [], examples: [example] = [] } = { ...named, ...parameter.schema };
    parameter.examples = { unset: { value: usual ?? first ?? example ?? '', 'x-disabled': true } };
    delete parameter.schema.examples;
  }
  // Scalar would show the codes beside the reference in place of the whole schema. The descriptions list them.
  for (const { content } of Object.values(api.components.responses)) delete content['application/json'].schema.properties;
  const guides = JSON.parse(document.getElementById('guides').textContent);
  api['x-tagGroups'] = [
    { name: 'Guides', tags: guides.map(({ tag }) => tag) },
    { name: 'API', tags: api.tags.map(({ name }) => name) },
  ];
  api.tags.push(...guides.map(({ tag, title, text }) => ({ name: tag, 'x-displayName': title, description: text })));
  api.externalDocs = { url: '${openapi.path}', description: 'OpenAPI document' };
  Scalar.createApiReference('#reference', { ...${JSON.stringify(configuration)}, content: api });
});
`;

/**
 * The Content-Security-Policy of the page: it runs only its two scripts and sends requests only to this service. Inline
 * styles are allowed because the renderer creates them.
 */
const policy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(start).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page that shows the OpenAPI document. */
export const docsPageContent: Content = {
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'no-referrer',
  },
  body: gzipSync(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Crewboard API</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs JavaScript. The same content is in <a href="${openapi.path}">${openapi.path}</a>.</noscript>
<div id="reference"></div>
<script type="application/json" id="guides">${guides}</script>
<script src="${docsScript.path}"></script>
<script>${start}</script>
</body>
</html>
`),
};
