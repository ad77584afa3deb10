/** Checks of the conformance suite that fail here, as `scenario:check`, and the reason. */
type Exception = { reason: string; checks: readonly string[] };

/** All checks that fail here. A check that succeeds in all revisions may not be listed. */
export const exceptions: readonly Exception[] = [
  {
    reason: 'It calls a test tool of the reference server of the suite. The tools here are the operations of the API.',
    checks: [
      'json-schema-2020-12:json-schema-2020-12-tool-found',
      'server-stateless:sep-2575-http-server-no-independent-requests-on-stream',
      'server-stateless:sep-2575-missing-capability-http-400',
      'server-stateless:sep-2575-server-no-log-without-loglevel',
      'server-stateless:sep-2575-server-rejects-undeclared-capability',
      'tools-call-audio:tools-call-audio',
      'tools-call-embedded-resource:tools-call-embedded-resource',
      'tools-call-error:tools-call-error',
      'tools-call-image:tools-call-image',
      'tools-call-mixed-content:tools-call-mixed-content',
      'tools-call-simple-text:tools-call-simple-text',
      'tools-call-with-progress:tools-call-with-progress',
    ],
  },
  {
    reason: 'It reads a test resource of that server. The resources here are tasks and agents.',
    checks: [
      'resources-read-binary:resources-read-binary',
      'resources-read-text:resources-read-text',
      'resources-templates-read:resources-templates-read',
    ],
  },
  {
    reason: 'It gets a test prompt of that server. The only prompt here is work_on_next_task.',
    checks: [
      'prompts-get-embedded-resource:prompts-get-embedded-resource',
      'prompts-get-simple:prompts-get-simple',
      'prompts-get-with-args:prompts-get-with-args',
      'prompts-get-with-image:prompts-get-with-image',
    ],
  },
  {
    reason:
      'No tool here asks its caller for input, for an answer of a model or for its roots; all are answered at once.',
    checks: [
      'elicitation-sep1034-defaults:elicitation-sep1034-general',
      'elicitation-sep1330-enums:elicitation-sep1330-general',
      'input-required-result-basic-elicitation:sep-2322-elicitation-incomplete',
      'input-required-result-basic-list-roots:sep-2322-list-roots-incomplete',
      'input-required-result-basic-sampling:sep-2322-sampling-incomplete',
      'input-required-result-capability-check:sep-2322-respect-client-capabilities',
      'input-required-result-multi-round:sep-2322-multi-round-r1',
      'input-required-result-multiple-input-requests:sep-2322-multiple-inputs-incomplete',
      'input-required-result-non-tool-request:sep-2322-non-tool-incomplete',
      'input-required-result-request-state:sep-2322-request-state-incomplete',
      'input-required-result-result-type:sep-2322-result-type-included',
      'input-required-result-tampered-state:sep-2322-reject-tampered-state',
      'tools-call-elicitation:tools-call-elicitation',
      'tools-call-sampling:tools-call-sampling',
    ],
  },
  {
    reason: 'The service offers neither completion of arguments nor log messages, and does not declare them.',
    checks: [
      'completion-complete:completion-complete',
      'logging-set-level:logging-set-level',
      'tools-call-with-logging:tools-call-with-logging',
    ],
  },
  {
    reason: 'There are no notifications, and the service does not declare subscriptions.',
    checks: ['resources-subscribe:resources-subscribe', 'resources-unsubscribe:resources-unsubscribe'],
  },
  {
    reason: 'No argument of a tool here is also sent in a header (x-mcp-header).',
    checks: [
      'http-custom-header-server-validation:sep-2243-server-decode-base64',
      'http-custom-header-server-validation:sep-2243-server-no-xmcp-tool',
      'http-custom-header-server-validation:sep-2243-server-reject-invalid-param-chars',
      'http-custom-header-server-validation:sep-2243-server-reject-param-mismatch',
      'http-custom-header-server-validation:sep-2243-server-validate-param-match',
    ],
  },
];
