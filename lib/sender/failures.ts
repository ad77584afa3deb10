import { NotHttp, ResponseTooLong, Unasked } from './connection.ts';
import { Forbidden } from './lookup.ts';

const unreachable = 'The receiver could not be reached.';
const unreachableInTime = 'The receiver could not be reached in time.';
const unresolved = 'The name of the receiver could not be resolved.';
const brokenOff = 'The connection failed: the receiver broke it off.';
const closed = 'The connection failed: the receiver closed it before its answer.';
const notHttp = 'What the receiver answered is not HTTP.';
const unknownIssuer =
  'The certificate of the receiver is of an issuer that is not known, or an intermediate one is missing.';

const noTls = 'The receiver speaks no TLS on this port.';
const mayWantCertificate =
  'The receiver refused the TLS handshake: it may want a client certificate, or other versions or ciphers.';
const wantsCertificate = 'The receiver requires a client certificate, which deliveries do not have.';

/** The texts of failures, by the error codes of Node.js. */
const sentences: Record<string, string> = {
  ENOTFOUND: unresolved,
  ECONNREFUSED: 'The receiver refused the connection.',
  // Also the error of a machine without IPv6 for an IPv6 address.
  EADDRNOTAVAIL: unreachable,
  EAFNOSUPPORT: unreachable,
  EHOSTDOWN: unreachable,
  EHOSTUNREACH: unreachable,
  ENETDOWN: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: unreachableInTime,
  ECONNRESET: brokenOff,
  EPIPE: brokenOff,
  HPE_HEADER_OVERFLOW: 'The headers of the answer are over 64 KiB.',
  CERT_HAS_EXPIRED: 'The certificate of the receiver has expired.',
  CERT_NOT_YET_VALID: 'The certificate of the receiver is not valid yet.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the receiver is self-signed.',
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the receiver is for another name.',
  INVALID_PURPOSE: 'The certificate of the receiver is not for servers.',
  SELF_SIGNED_CERT_IN_CHAIN: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
};

/**
 * The texts of failures of TLS, by the reasons of OpenSSL, which Node.js has only in the message: most codes are EPROTO. An
 * alert of the receiver is 1,000 plus its number in RFC 8446, section 6. Attempts have no certificate, so an alert about
 * one means that the receiver wants one.
 */
const tlsSentences: Record<number, string> = {
  // The first bytes are no record of TLS.
  267: noTls,
  ...Object.fromEntries([40, 41, 42, 43, 44, 45, 46, 48, 49].map((alert) => [1_000 + alert, mayWantCertificate])),
  1116: wantsCertificate,
};

/**
 * Returns the text of a failed attempt in the history: one short sentence for the operator of the receiver. It consists of
 * fixed texts and at most an error code, because error messages name addresses and may quote the receiver.
 */
export function sentenceFor(error: unknown): string {
  if (error instanceof Forbidden) return `Not sent: ${error.message}.`;
  if (error instanceof ResponseTooLong) return 'The receiver sent more than 64 KiB and no answer in it.';
  if (error instanceof NotHttp) return notHttp;
  if (error instanceof Unasked) return error.message;
  const { code, message } = codeAndMessage(error);
  // Node.js has the same code for a connection that is closed and one that is reset.
  const sentence = message === 'socket hang up' ? closed : (tlsSentences[tlsReason(message)] ?? sentences[code]);
  if (sentence) return sentence;
  if (/^EAI_/.test(code)) return unresolved;
  if (/^HPE_/.test(code)) return notHttp;
  if (/CERT|TLS|SSL|^EPROTO$/.test(code)) return `The receiver's TLS failed: ${code}.`;
  return `The connection failed${code && `: ${code}`}.`;
}

/** Returns the code and the message of an error. The code is empty if it is missing or has an unexpected form. */
function codeAndMessage(error: unknown): { code: string; message: string } {
  if (!(error instanceof Error)) return { code: '', message: '' };
  const code = 'code' in error ? String(error.code) : '';
  return { code: /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : '', message: error.message };
}

/** Returns the reason in a message of OpenSSL, such as `error:0A00010B:SSL routines:…`; 0 in other messages. */
function tlsReason(message: string): number {
  const [, reason = '0'] = /\berror:0A([\dA-F]{6}):SSL routines:/.exec(message) ?? [];
  return Number.parseInt(reason, 16);
}
