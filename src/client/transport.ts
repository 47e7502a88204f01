/**
 * How the generated client calls an operation: over `fetch`, in the browser and in Node.js alike. It knows nothing of what the service
 * offers; that is in the generated file beside the build.
 */

/** What an operation takes, beside the types of it. */
export interface OperationRoute {
  readonly name: string;
  readonly method: string;
  /** `/list/{account}/{list}`. */
  readonly path: string;
  /** `stream`: bytes of whatever form, with a content type of their own. */
  readonly body: 'none' | 'json' | 'stream';
  /** Null: any signed-in caller. */
  readonly permission: string | null;
}

export interface StreamInput {
  readonly contentType: string;
  readonly data: Blob | Uint8Array<ArrayBuffer> | string;
}

/** Input of an operation with its types erased. */
export interface AnyInput {
  readonly params?: object;
  readonly query?: object;
  readonly body?: unknown;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ClientOptions {
  /** `https://search.example.com`; '' on pages of the service itself. */
  readonly base: string;
  /** Who calls: `X-API-Key`, or what a session needs. Read anew for each call. */
  readonly headers: () => Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

export interface Client {
  /** Rejects with a ServiceProblem, with ConnectionLost where no answer came, and with the signal's reason. */
  call(route: OperationRoute, input: AnyInput, options?: CallOptions): Promise<unknown>;
}

export interface FaultyPlace {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly detail: string;
}

/** The service refused: its problem document (RFC 9457). */
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

/** No answer came: the service is not there, or the connection ended. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export type Call<Input, Output> = ((client: Client, input: Input, options?: CallOptions) => Promise<Output>) & {
  readonly route: OperationRoute;
};

/** The function of one operation; the generated file has one for each. */
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

/** Path and query string. Throws where a parameter of the path is missing: to leave it out would be another path. */
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

/** A failure of the connection is told apart from one of this program and from what was called off. */
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

/** Undefined for what is no single value. */
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
