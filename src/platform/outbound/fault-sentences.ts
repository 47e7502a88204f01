/**
 * Describes why a connection failed for somebody who does not know the libraries: a sentence, with the code for looking
 * it up.
 */

const CLOSED = 'The server closed the connection before its answer was whole';
const NOT_CONNECTED_IN_TIME = 'The server could not be connected to in time';
const NO_WAY = 'There is no way from here to the server';
const UNKNOWN_SIGNER = 'The certificate of the server is signed by nobody whom this service trusts';
const NO_TLS = 'The server does not speak TLS there, or none that is safe';
const WANTS_CERTIFICATE = 'The server asks for a certificate of whoever calls it, and the service has none';
const ENDED_HANDSHAKE = 'The server ended the handshake of TLS';
const NO_DESCRIPTORS = 'The service cannot open more connections for now';

/** Sentences by code: of the system, undici (`UND_ERR_…`), streams, TLS, and imapflow. */
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'The server refuses connections there'],
  ['ECONNRESET', CLOSED],
  ['ECONNABORTED', CLOSED],
  ['EPIPE', CLOSED],
  ['UND_ERR_SOCKET', CLOSED],
  ['ERR_STREAM_PREMATURE_CLOSE', CLOSED],
  ['NoConnection', CLOSED],
  ['EConnectionClosed', CLOSED],
  ['ClosedAfterConnectTLS', CLOSED],
  ['ClosedAfterConnectText', CLOSED],
  ['EHOSTUNREACH', NO_WAY],
  ['ENETUNREACH', NO_WAY],
  ['EADDRNOTAVAIL', NO_WAY],
  ['ETIMEDOUT', NOT_CONNECTED_IN_TIME],
  ['UND_ERR_CONNECT_TIMEOUT', NOT_CONNECTED_IN_TIME],
  ['CONNECT_TIMEOUT', NOT_CONNECTED_IN_TIME],
  ['GREETING_TIMEOUT', 'The server was connected to and said nothing in time'],
  ['UND_ERR_HEADERS_TIMEOUT', 'The server was connected to and did not answer in time'],
  ['UND_ERR_BODY_TIMEOUT', 'The server stopped in the middle of its answer'],
  ['UPGRADE_TIMEOUT', NO_TLS],
  ['ETIMEOUT', 'The server stopped in the middle of its answer'],
  ['ENOTFOUND', 'There is no host of this name'],
  ['EAI_AGAIN', 'The name of the host cannot be looked up for now'],
  ['CERT_HAS_EXPIRED', 'The certificate of the server, or of who signed it, has expired'],
  ['CERT_NOT_YET_VALID', 'The certificate of the server, or of who signed it, does not hold yet'],
  ['CERT_REVOKED', 'The certificate of the server was revoked'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'The certificate of the server is for another host'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNKNOWN_SIGNER],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNKNOWN_SIGNER],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNKNOWN_SIGNER],
  ['UNABLE_TO_GET_ISSUER_CERT', UNKNOWN_SIGNER],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNKNOWN_SIGNER],
  ['INVALID_PURPOSE', 'The certificate of the server, or of who signed it, is not one for that'],
  ['CERT_SIGNATURE_FAILURE', 'The signature of the certificate of the server is wrong'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', WANTS_CERTIFICATE],
  // Before TLS 1.3, one alert means both.
  [
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    `${ENDED_HANDSHAKE}: it takes none that is safe, or asks for a certificate of whoever calls it`,
  ],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', NO_TLS],
  ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', `${ENDED_HANDSHAKE}: it does not answer for a host of this name`],
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', `${ENDED_HANDSHAKE}: it does not speak HTTP/1.1 there`],
  ['EPROTO', NO_TLS],
  ['EMFILE', NO_DESCRIPTORS],
  ['ENFILE', NO_DESCRIPTORS],
  ['UND_ERR_HEADERS_OVERFLOW', 'The headers of the answer are too long'],
  // An assertion of undici about the server's answer: a status of 000.
  ['ERR_ASSERTION', 'The server does not answer in HTTP'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'The answer is not as long as it says'],
]);
/** Sentences by the beginning of the code. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^ERR_SSL_\w+_ALERT_/, ENDED_HANDSHAKE],
  [/^ERR_(?:SSL|TLS)_/, NO_TLS],
  [/^HPE_/, 'The server does not answer in HTTP'],
  [/^(?:Z_|ERR__ERROR_|ERR_BROTLI|ERR_ZLIB)/, 'The answer cannot be decompressed'],
];

/** Returns the code of a library's error. undici's HTTP parser does not give a code to each of its errors. */
export function faultCode(error: unknown): string | undefined {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === 'string') return code;
  return name === 'HTTPParserError' ? 'HPE_UNKNOWN' : undefined;
}

/** Limit of a message in the error, since a mail server may send any length. */
const SAID_CHARACTERS_MAX = 500;

/** Node.js's message for a connection closed during the handshake, which has the same code as any other reset. */
const CLOSED_IN_HANDSHAKE = /before secure TLS connection was established/;
/** Code of certificate errors without a code of their own; the message has the reason. */
const UNNAMED_OF_CERTIFICATE = 'UNSPECIFIED';
/** Hint if the signer of a certificate is unknown. */
const HOW_TRUSTED = ' Whoever runs the service has it trust others by NODE_EXTRA_CA_CERTS.';

/**
 * Returns the sentence for the error's code, if that is known; otherwise its message as a sentence. May contain hosts
 * and ports, never a secret.
 */
export function faultSentence(error: unknown): string {
  const code = faultCode(error);
  const { message } = (error ?? {}) as { readonly message?: unknown };
  const given = typeof message === 'string' ? message.slice(0, SAID_CHARACTERS_MAX) : '';
  const known = code === undefined ? undefined : sentenceOf(code, given);
  if (known !== undefined) return `${known} (${code}).${known === UNKNOWN_SIGNER ? HOW_TRUSTED : ''}`;
  const said = given === '' ? (code ?? 'of an unknown reason').slice(0, SAID_CHARACTERS_MAX) : given;
  const what =
    code === UNNAMED_OF_CERTIFICATE ? 'The certificate of the server cannot be trusted' : 'The connection failed';
  return `${what}: ${said.replace(/\.+$/, '')}.`;
}

function sentenceOf(code: string, message: string): string | undefined {
  if (code === 'ECONNRESET' && CLOSED_IN_HANDSHAKE.test(message)) return `${ENDED_HANDSHAKE} without a word`;
  return SENTENCES.get(code) ?? FAMILIES.find(([family]) => family.test(code))?.[1];
}
