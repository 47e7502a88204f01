/**
 * The catalogue of errors that belong to no single feature. Every error that leaves the service is a `ServiceError` of
 * a kind in this table, or of one that a feature declares; the front end renders it as an RFC 9457 problem document. To
 * add a kind, add a row to this table or to that of a feature.
 */

/** A kind of error. */
export interface ProblemKind {
  /** Unique, in kebab-case. */
  readonly code: string;
  readonly status: number;
  readonly title: string;
}

export const ERROR_CATALOGUE = {
  'malformed-request': { status: 400, title: 'The request is malformed' },
  'malformed-json': { status: 400, title: 'The body is not valid JSON' },
  'invalid-parameter': { status: 400, title: 'A parameter or member is not valid' },
  'invalid-name': { status: 400, title: 'A name is not valid' },
  'invalid-filter': { status: 400, title: 'The filter cannot be read' },
  'invalid-record': { status: 400, title: 'The record is not valid' },
  'invalid-key': { status: 401, title: 'The API key is missing or not valid' },
  'not-signed-in': { status: 401, title: 'Nobody is signed in, or the session has ended' },
  'plan-limit': { status: 402, title: 'The plan of the account has no room for this' },
  'csrf-token': { status: 403, title: 'The CSRF token of the session is missing or wrong' },
  'missing-permission': { status: 403, title: 'A permission is missing' },
  'out-of-scope': { status: 403, title: 'The key does not reach this resource' },
  'wider-than-caller': { status: 403, title: 'The requested key would be wider than the calling key' },
  'console-only': { status: 403, title: 'This operation is only for the console and the command line' },
  'not-found': { status: 404, title: 'There is no such resource' },
  'account-not-found': { status: 404, title: 'There is no such account' },
  'list-not-found': { status: 404, title: 'There is no such list' },
  'group-not-found': { status: 404, title: 'There is no such group' },
  'record-not-found': { status: 404, title: 'There is no such record' },
  'version-not-found': { status: 404, title: 'There is no such version' },
  'field-not-found': { status: 404, title: 'There is no such field' },
  'key-not-found': { status: 404, title: 'There is no such API key' },
  'method-not-allowed': { status: 405, title: 'The method is not allowed here' },
  'name-exists': { status: 409, title: 'The name is taken' },
  conflict: { status: 409, title: 'The request conflicts with the current state' },
  'precondition-failed': { status: 412, title: 'The file is not as the request expects it' },
  'range-not-satisfiable': { status: 416, title: 'The requested range is outside the file' },
  'body-too-slow': { status: 408, title: 'The body arrives too slowly' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'url-too-long': { status: 414, title: 'The URL is too long' },
  'unsupported-media-type': { status: 415, title: 'The content type is not supported' },
  unprocessable: { status: 422, title: 'The request is well-formed but cannot be done' },
  'answer-too-large': { status: 422, title: 'The answer would be too large' },
  'rate-limited': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'The headers are too large' },
  'internal-error': { status: 500, title: 'Something went wrong inside the service' },
  overloaded: { status: 503, title: 'The service is too busy' },
  deadline: { status: 503, title: 'The request took too long' },
  'shutting-down': { status: 503, title: 'The service is stopping' },
  'list-missing': { status: 503, title: 'The records of the list are missing from the data directory' },
  'not-ready': { status: 503, title: 'The service is not ready' },
  'resources-exhausted': { status: 503, title: 'The process has run out of descriptors, memory maps or address space' },
  'program-replaced': { status: 503, title: 'A part of the program was replaced or removed' },
  'list-damaged': { status: 503, title: 'The list is damaged and closed' },
  'list-format': { status: 503, title: 'The list was written by another release' },
  'storage-damaged': { status: 503, title: 'A data file is damaged' },
  'storage-full': { status: 507, title: 'The storage is full' },
  'storage-failed': { status: 507, title: 'The storage cannot be written' },
  'limit-reached': { status: 507, title: 'A limit of the system leaves no room' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export function problemKind(kind: ErrorCode | ProblemKind): ProblemKind {
  return typeof kind === 'string' ? { code: kind, ...ERROR_CATALOGUE[kind] } : kind;
}

/** One faulty place of a request: `pointer` into the body (RFC 6901) or the name of a path or query `parameter`. */
export interface ErrorPlace {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly detail: string;
}

/**
 * Names that may have been meant instead of `given`, which does not exist. Only shown to callers with `permission`,
 * which lets them see all the names anyway.
 */
export interface MeantName {
  readonly given: string;
  readonly permission: string;
  names(): Iterable<string>;
}

export interface ServiceErrorOptions {
  readonly errors?: readonly ErrorPlace[];
  /** Whole seconds; sent as `Retry-After` and as `retry_after_seconds`. */
  readonly retryAfterSeconds?: number;
  /** Headers of the answer, in addition to those that every error has. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly meant?: MeantName;
  readonly cause?: unknown;
}

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly errors: readonly ErrorPlace[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  /** Not serialised: does not reach other threads. */
  readonly meant: MeantName | undefined;

  readonly code: string;

  /** `detail` is one sentence for the caller: what was wrong and what was expected. Never an internal message. */
  constructor(
    readonly problem: ErrorCode | ProblemKind,
    readonly detail: string,
    options: ServiceErrorOptions = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = typeof problem === 'string' ? problem : problem.code;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers ?? {};
    this.meant = options.meant;
  }

  get status(): number {
    return problemKind(this.problem).status;
  }

  /** Returns the problem document of RFC 9457. */
  toProblem(): Problem {
    const { code, status, title } = problemKind(this.problem);
    // A 400 always names a place; an error in the request as a whole has the pointer to the whole body.
    const errors = this.errors ?? (status === 400 ? [{ pointer: '', detail: this.detail }] : undefined);
    return {
      type: `/problems/${code}`,
      title,
      status,
      detail: this.detail,
      code,
      ...(errors === undefined ? {} : { errors }),
      ...(this.retryAfterSeconds === undefined ? {} : { retry_after_seconds: this.retryAfterSeconds }),
    };
  }
}

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly errors?: readonly ErrorPlace[];
  readonly retry_after_seconds?: number;
}

const NAMED_MAX = 10;

/** Lists names for a message: `a, b and 9998 others`. */
export function namesInShort(names: readonly string[]): string {
  const others = names.length - NAMED_MAX;
  if (others <= 0) return names.join(', ');
  return `${names.slice(0, NAMED_MAX).join(', ')} and ${others === 1 ? 'one other' : `${others} others`}`;
}

/** Returns the error for an answer of more than `bytesMax` bytes; `smaller` says how to get a smaller one. */
export function answerTooLarge(
  bytesMax: number,
  smaller = 'ask for fewer records, or select fewer fields',
): ServiceError {
  return new ServiceError('answer-too-large', `The answer would be larger than ${bytesMax} bytes: ${smaller}.`);
}

/**
 * Marks a member of a request in a message, so that the command line can replace it by the name of its own option
 * (`src/cli/typed-words.ts`).
 */
export function namedMember(member: string): string {
  return `\`${member}\``;
}

/** The plain parts of a ServiceError, for passing it to another thread. */
export interface SerialisedServiceError {
  readonly problem: ErrorCode | ProblemKind;
  readonly detail: string;
  readonly errors?: readonly ErrorPlace[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

export function serialiseError(error: ServiceError): SerialisedServiceError {
  const { problem, detail, errors, retryAfterSeconds } = error;
  return { problem, detail, errors, retryAfterSeconds };
}

export function deserialiseError(error: SerialisedServiceError): ServiceError {
  return new ServiceError(error.problem, error.detail, {
    ...(error.errors === undefined ? {} : { errors: error.errors }),
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
  });
}
