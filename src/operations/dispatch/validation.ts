/**
 * Converts the raw parts of a request to the input of its operation: path, query string and body, validated by their
 * schemas. All faults of a request are reported in one 400. Checks are compiled once per operation, at its first use.
 */
import {
  ERROR_VALUE_CHARACTERS_MAX,
  parseExactJson,
  scanJson,
  ServiceError,
  tellJsonFault,
  type ErrorPlace,
  type JsonBounds,
} from '../../platform/index.js';
import {
  ANY_CONTENT_TYPE,
  BODY_PARTS_MAX,
  CONTENT_BODY_BYTES_MAX,
  type Operation,
  type OperationInput,
  type RawInput,
  type RequestHeaders,
  type StreamBody,
} from './operation.js';
import { coercionsOf, queryFormOf, readQueryString, type Coercions, type QueryForm } from './query-string.js';
import { compileCheck, type SchemaCheck } from './schema-validation.js';

export type ValidInput = OperationInput<unknown, unknown, unknown>;

/**
 * In a body with more values, only the first fault is reported: one fault per item would be an endless list, which
 * takes time to create however short the items are.
 */
const COLLECT_ALL_VALUES_MAX = 2000;
/**
 * Limit for a record, or the rules of a list. More values would be an implausible vector, and block the main thread for
 * a tenth of a second.
 */
const CONTENT_VALUES_MAX = 1_000_000;
/**
 * Limit for options: a vector has 8,192 numbers. A caller that may only search cannot take more of the main thread's
 * time.
 */
const OPTIONS_VALUES_MAX = 100_000;
const NO_HEADERS: RequestHeaders = Object.freeze({});
const EMPTY_QUERY: Readonly<Record<string, unknown>> = Object.freeze({});

export function isStreamBody(body: Operation['body']): body is StreamBody {
  return body !== undefined && 'kind' in body && body.kind === 'stream' && 'contentTypes' in body;
}

/** Returns the operation's input, or throws `invalid-parameter`, `malformed-json` or `unsupported-media-type`. */
export type InputValidator = (raw: RawInput) => ValidInput;

export function createValidator(operation: Operation): InputValidator {
  const checkParams = compileCheck(operation.params, 'parameter');
  const paramCoercions = coercionsOf(operation.params);
  const queryForm = queryFormOf(operation.query);
  const checkQuery = operation.query === undefined ? undefined : compileCheck(operation.query, 'parameter');
  const { body } = operation;
  const checkBody = body === undefined || isStreamBody(body) ? undefined : compileCheck(body, 'body');
  const bounds = jsonBounds(operation);

  return (raw) => {
    const faults: ErrorPlace[] = [];
    const params = readParams(raw.params, paramCoercions, checkParams, faults);
    const query = readQuery(raw.queryString, queryForm, checkQuery, faults);
    if (isStreamBody(body)) {
      const takesAny = body.contentTypes.includes(ANY_CONTENT_TYPE);
      if (!takesAny) assertContentType(raw.contentType, body.contentTypes);
      throwFaults(faults);
      const { stream = emptyStream(), headers = NO_HEADERS } = raw;
      const contentType = takesAny ? (raw.contentType ?? '') : mediaType(raw.contentType);
      const announced = raw.bodyBytes === undefined ? {} : { bodyBytes: raw.bodyBytes };
      return { params, query, body: undefined, stream, contentType, headers, ...announced };
    }
    const value = readBody(raw, checkBody && { check: checkBody, bounds }, faults);
    throwFaults(faults);
    if (operation.requestHeaders === undefined) return { params, query, body: value, raw };
    return { params, query, body: value, raw, headers: raw.headers ?? NO_HEADERS };
  };
}

function readParams(
  raw: RawInput['params'],
  coercions: Coercions,
  check: SchemaCheck,
  faults: ErrorPlace[],
): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  for (const name in raw) {
    const text = raw[name];
    if (text === undefined) faults.push({ parameter: name, detail: 'The path is not valid percent-encoded UTF-8.' });
    else params[name] = coercions.get(name)?.(text) ?? text;
  }
  if (faults.length === 0) faults.push(...check(params));
  return params;
}

function readQuery(
  text: string,
  form: QueryForm,
  check: SchemaCheck | undefined,
  faults: ErrorPlace[],
): Readonly<Record<string, unknown>> {
  if (text === '' && check === undefined) return EMPTY_QUERY;
  const query = readQueryString(text, form, faults);
  if (check !== undefined) {
    const found = check(query);
    if (found.length > 0) faults.push(...found);
  } else {
    for (const name of Object.keys(query)) {
      faults.push({ parameter: name, detail: 'This operation takes no query parameters.' });
    }
  }
  return query;
}

interface BodyCheck {
  readonly check: SchemaCheck;
  readonly bounds: JsonBounds;
}

function readBody(raw: RawInput, wanted: BodyCheck | undefined, faults: ErrorPlace[]): unknown {
  const bytes = raw.body;
  const isEmpty = bytes === undefined || bytes.length === 0;
  if (wanted === undefined) {
    if (!isEmpty) faults.push({ pointer: '', detail: 'This operation takes no body.' });
    return undefined;
  }
  if (isEmpty) {
    faults.push({ pointer: '', detail: 'A JSON body is required.' });
    return undefined;
  }
  assertContentType(raw.contentType, JSON_TYPES);
  const { value, values } = readJson(bytes, wanted.bounds);
  const found = wanted.check(value, values <= COLLECT_ALL_VALUES_MAX);
  if (found.length > 0) faults.push(...found);
  return value;
}

const JSON_TYPES = ['application/json'];
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Returns the value of a JSON body. Throws `malformed-json` with line and column, or `body-too-large`. */
export function parseJson(bytes: Uint8Array, bounds = jsonBounds({})): unknown {
  return readJson(bytes, bounds).value;
}

/** Returns the bounds on the parts of a JSON body that take time to read. */
export function jsonBounds({
  bodyPartsMax: partsMax = BODY_PARTS_MAX,
  bodyBytesMax,
}: Pick<Operation, 'bodyPartsMax' | 'bodyBytesMax'>): JsonBounds {
  const valuesMax = bodyBytesMax === CONTENT_BODY_BYTES_MAX ? CONTENT_VALUES_MAX : OPTIONS_VALUES_MAX;
  return { partsMax, valuesMax };
}

function readJson(bytes: Uint8Array, bounds: JsonBounds): { readonly value: unknown; readonly values: number } {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new ServiceError('malformed-json', 'The body is not valid UTF-8.');
  }
  const { fault, values, hasLongNumbers } = scanJson(text, bounds);
  if (fault !== undefined) {
    throw new ServiceError(fault.isTooMuch === true ? 'body-too-large' : 'malformed-json', tellJsonFault(text, fault));
  }
  return { value: hasLongNumbers ? parseExactJson(text) : (JSON.parse(text) as unknown), values };
}

/** Returns the media type in lower case, without its parameters. */
function mediaType(contentType: string | undefined): string {
  if (contentType === undefined) return '';
  const semicolon = contentType.indexOf(';');
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}

function assertContentType(contentType: string | undefined, allowed: readonly string[]): void {
  const charset = contentType === undefined ? undefined : /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
  const charsetIsGood = charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset);
  if (charsetIsGood && allowed.includes(mediaType(contentType))) return;
  const wanted = allowed.length === 1 ? allowed.join() : `one of ${allowed.join(', ')}`;
  throw new ServiceError(
    'unsupported-media-type',
    `The content type has to be ${wanted} in UTF-8; ${givenType(contentType)}.`,
  );
}

function givenType(contentType: string | undefined): string {
  if (contentType === undefined || contentType === '') return 'none was given';
  const type = contentType.slice(0, ERROR_VALUE_CHARACTERS_MAX);
  // Nobody chooses this type for such a body.
  const isOfCurl = mediaType(contentType) === 'application/x-www-form-urlencoded';
  return `'${type}' was given${isOfCurl ? ', which is what curl sends without -H' : ''}`;
}

/** Throws `invalid-parameter` with the first place and the number of others; does nothing without faults. */
export function throwFaults(faults: readonly ErrorPlace[]): void {
  const [first] = faults;
  if (first === undefined) return;
  const place = first.parameter ?? (first.pointer === '' ? undefined : first.pointer);
  const detail = place === undefined ? first.detail : `${place}: ${first.detail}`;
  const more = faults.length === 1 ? '' : ` (and ${faults.length - 1} more)`;
  throw new ServiceError('invalid-parameter', `${detail}${more}`, { errors: faults });
}

async function* emptyStream(): AsyncGenerator<Uint8Array> {}
