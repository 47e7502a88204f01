/**
 * Calls operations over `fetch`, in browsers and in Node.js. Knows nothing of particular operations, which are in the
 * generated client.
 */

/** Route of an operation, without its types. */
export interface OperationRoute {
  readonly name: string;
  readonly method: string;
  /** `/list/{account}/{list}`. */
  readonly path: string;
  /** `stream` means bytes of any form, with a content type of their own. */
  readonly body: 'none' | 'json' | 'stream';
  /** Null if any signed-in caller may call it. */
  readonly permission: string | null;
}

export interface StreamInput {
  readonly contentType: string;
  readonly data: Blob | Uint8Array<ArrayBuffer> | string;
}

/** Input of an operation, untyped. */
export interface AnyInput {
  readonly params?: object;
  readonly query?: object;
  readonly body?: unknown;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ClientOptions {
  /** `https://search.example.com`; '' on the service's own pages. */
  readonly base: string;
  /** Returns the credentials: `X-API-Key`, or the headers of a session. Called for each request. */
  readonly headers: () => Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

export interface Client {
  /** Rejects with a ServiceProblem, with ConnectionLost if no answer arrived, or with the signal's reason. */
  call(route: OperationRoute, input: AnyInput, options?: CallOptions): Promise<unknown>;
}

export interface FaultyPlace {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly detail: string;
}

/** Thrown if the service refused the call: its problem document (RFC 9457). */
export class ServiceProblem extends Error {
  override readonly name = 'ServiceProblem';
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FaultyPlace[];
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, problem: Readonly<Record<string, unknown>>) {
    super(textOf(problem['detail']) ?? textOf(problem['title']) ?? `The service answered ${status}.`);
    this.status = status;
    this.code = textOf(problem['code']) ?? 'unknown';
    this.errors = Array.isArray(problem['errors']) ? (problem['errors'] as FaultyPlace[]) : [];
    const seconds = problem['retry_after_seconds'];
    this.retryAfterSeconds = typeof seconds === 'number' ? seconds : undefined;
  }
}

/** Thrown if no answer arrived: the service is unreachable, or the connection ended. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export type Call<Input, Output> = ((client: Client, input: Input, options?: CallOptions) => Promise<Output>) & {
  readonly route: OperationRoute;
};

/** Creates the function of one operation; the generated client has one per operation. */
export function operation<Input extends AnyInput, Output>(route: OperationRoute): Call<Input, Output> {
  const call = (client: Client, input: Input, options?: CallOptions): Promise<Output> =>
    client.call(route, input, options) as Promise<Output>;
  return Object.assign(call, { route });
}

export function createClient({ base, headers, fetch: fetchWith = globalThis.fetch }: ClientOptions): Client {
  return {
    async call(route, input, { signal } = {}) {
      const request: RequestInit = {
        method: route.method,
        headers: { Accept: 'application/json', ...headers(), ...typeOf(route, input) },
        ...(route.body === 'none' ? {} : { body: bodyOf(route, input) }),
        ...(signal === undefined ? {} : { signal }),
      };
      const response = await answered(() => fetchWith(`${base}${targetOf(route, input)}`, request), signal);
      const content = await answered(() => contentOf(response), signal);
      if (response.ok) return content;
      throw new ServiceProblem(response.status, isRecord(content) ? content : {});
    },
  };
}

/**
 * Returns path and query string. Throws if a path parameter is missing, since leaving it out would give another path.
 */
export function targetOf({ name, path }: OperationRoute, { params = {}, query = {} }: AnyInput): string {
  const values = params as Readonly<Record<string, unknown>>;
  const filled = path.replace(/\{([^}]+)\}/g, (_, parameter: string) => {
    const value = textOf(values[parameter]);
    if (value === undefined || value === '') throw new Error(`${name} needs the parameter '${parameter}'.`);
    return encodeURIComponent(value);
  });
  const options = new URLSearchParams();
  for (const [option, value] of Object.entries(query)) {
    const text = Array.isArray(value) ? value.join(',') : textOf(value);
    if (text !== undefined) options.set(option, text);
  }
  return options.size === 0 ? filled : `${filled}?${options.toString()}`;
}

function typeOf({ body }: OperationRoute, input: AnyInput): Record<string, string> {
  if (body === 'none') return {};
  return { 'Content-Type': body === 'json' ? 'application/json' : (input.body as StreamInput).contentType };
}

function bodyOf({ body }: OperationRoute, input: AnyInput): NonNullable<RequestInit['body']> {
  return body === 'json' ? JSON.stringify(input.body ?? {}) : (input.body as StreamInput).data;
}

/** Runs `work`, converting connection failures into ConnectionLost. Bugs and cancellations are passed on. */
async function answered<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (signal?.aborted === true || !(error instanceof TypeError)) throw error;
    throw new ConnectionLost('The service cannot be reached.', { cause: error });
  }
}

async function contentOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  if (!/^application\/(?:[\w.-]+\+)?json/.test(response.headers.get('Content-Type') ?? '')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ConnectionLost('The answer of the service was cut off.', { cause: error });
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns undefined for anything other than a single value. */
function textOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
      return String(value);
    default:
      return undefined;
  }
}
