/** Client of a JSON server behind the guard of outgoing connections, shared by all kinds of remote models. */
import { OutboundFailedError, type OutboundClient, type OutboundLimits } from '../platform/outbound/outbound-client.js';
import { hasMoreThan, OutboundRefusedError, type Secret } from '../platform/index.js';
import { memberOf } from './checked-answers.js';
import { ModelError } from './model-error.js';

/** Characters of a server's error message that are repeated. */
const SAID_CHARACTERS_MAX = 200;
/** Characters of an error answer that are searched for the message. The answer may be as long as a good one. */
const LOOKED_AT_CHARACTERS_MAX = 65_536;
/**
 * Limits on characters whose number determines how long parsing takes, however few bytes they are, since parsing blocks
 * the main thread. The vectors of 2,048 texts need 10,000 of the first two, and with 4,096 numbers each 8,000,000
 * commas; the vector of one text needs a few thousand.
 */
const MARKS_MAX = { ':': 200_000, '{': 100_000, '[': 100_000 } as const;
/** Limits on commas: default, for answers without vectors, and maximum for any answer. */
const COMMAS_MAX_DEFAULT = 1_000_000;
const COMMAS_MAX = 10_000_000;
/** Limit for any answer: the size of 2,048 vectors of 1,024 dimensions. */
export const ANSWER_BYTES_MAX = 64 * 2 ** 20;
/** Statuses of a server that understood the request and refuses it, so that a retry is useless. */
const REFUSED_STATUSES: ReadonlySet<number> = new Set([400, 413, 422]);

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MOVED =
  'No redirect is followed with a secret and texts: change the URL of the model to the place that it leads to, if you trust that.';
const REFUSED_SECRET = 'Give the model a secret that the server takes (gannet model update --help).';
const REMEDIES: Readonly<Record<number, string>> = {
  ...Object.fromEntries([...REDIRECTS].map((status) => [status, MOVED])),
  401: REFUSED_SECRET,
  403: REFUSED_SECRET,
  404: 'Look at the URL of the model, and at its name.',
  429: 'It takes no more requests for now: it is asked again by itself. If that stays so, the account there has used up what it may, or limit it by requests_per_minute and tokens_per_minute of the model.',
};

type OutboundResponse = Awaited<ReturnType<OutboundClient['request']>>;

export interface JsonServiceOptions {
  readonly client: OutboundClient;
  /** Complete URL of requests. */
  readonly url: string;
  /** `unreadable` if the stored secret cannot be decrypted. */
  readonly secret: Secret | null | 'unreadable';
  /** Default: the limits of the client. */
  readonly limits?: Partial<OutboundLimits>;
}

export interface SentBody {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/** Limits on the answer to a request. */
export interface AnswerBounds {
  /** After decompression. */
  readonly bytesMax?: number;
  readonly commasMax?: number;
}

export class JsonService {
  constructor(private readonly options: JsonServiceOptions) {}

  /** Posts JSON and returns the parsed answer. Rejects with a ModelError, or the signal's reason. */
  post(body: unknown, signal?: AbortSignal, bounds?: AnswerBounds): Promise<unknown> {
    return this.send({ contentType: 'application/json', body: JSON.stringify(body) }, signal, bounds);
  }

  /** Like `post`, with a body of any type. */
  async send({ contentType, body }: SentBody, signal?: AbortSignal, bounds?: AnswerBounds): Promise<unknown> {
    const { client, url, secret } = this.options;
    if (secret === 'unreadable') {
      throw new ModelError("The model's secret cannot be opened: give it a new one with gannet model update.", {
        retry: 'later',
      });
    }
    try {
      const response = await client.request({
        url,
        method: 'POST',
        headers: {
          'content-type': contentType,
          accept: 'application/json',
          ...(secret === null ? {} : { authorization: `Bearer ${secret.reveal()}` }),
        },
        body,
        limits: this.limitsOf(bounds),
        ...(signal === undefined ? {} : { signal }),
      });
      const text = await response.text();
      return response.ok ? this.parsed(response, text, bounds) : this.refused(response, text);
    } catch (error) {
      if (signal?.aborted === true || error instanceof ModelError) throw error;
      throw this.failed(error);
    }
  }

  private limitsOf({ bytesMax = Infinity }: AnswerBounds = {}): Partial<OutboundLimits> {
    const { limits = {} } = this.options;
    const most = Math.min(bytesMax, limits.bytesMax ?? ANSWER_BYTES_MAX);
    return { ...limits, wireBytesMax: most, bytesMax: most };
  }

  private parsed({ headers }: OutboundResponse, text: string, bounds?: AnswerBounds): unknown {
    const commasMax = Math.min(bounds?.commasMax ?? COMMAS_MAX_DEFAULT, COMMAS_MAX);
    for (const [mark, most] of Object.entries({ ...MARKS_MAX, ',': commasMax })) {
      if (!hasMoreThan(text, mark, most)) continue;
      throw new ModelError(`The server's answer has more than ${most} '${mark}': that is none to what it was asked.`, {
        retry: 'later',
      });
    }
    try {
      return JSON.parse(text);
    } catch {
      const type = this.quoted(headers['content-type'] ?? 'no content type');
      const detail = `The server answered something that is not JSON (${type}): ${this.quoted(text)}`;
      throw new ModelError(detail, { retry: 'later' });
    }
  }

  private refused(response: OutboundResponse, text: string): never {
    const retryAfterMs = response.retryAfterMs(Date.now());
    const said = `The server answered ${response.status}: ${this.quoted(saidIn(text))}`;
    throw new ModelError(`${said}${this.remedyOf(response)}`, {
      retry: REFUSED_STATUSES.has(response.status) ? 'never' : 'later',
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }

  /** Returns what to do about the status, or '' if it does not say. */
  private remedyOf({ status, headers }: OutboundResponse): string {
    const remedy = REMEDIES[status];
    if (remedy === undefined) return '';
    const { location = '' } = headers;
    const isPlace = REDIRECTS.has(status) && URL.canParse(location, this.options.url);
    return isPlace ? ` ${remedy} It says: ${this.quoted(new URL(location, this.options.url).href)}` : ` ${remedy}`;
  }

  private failed(error: unknown): ModelError {
    const isKnown = error instanceof OutboundFailedError || error instanceof OutboundRefusedError;
    const detail = isKnown ? error.message : `The server could not be asked: ${String(error)}`;
    return new ModelError(this.withoutSecret(detail), { retry: 'later', cause: error });
  }

  /** Returns the text shortened and without the secret: servers repeat what they were sent, especially in errors. */
  private quoted(text: string): string {
    const line = this.withoutSecret(text.slice(0, LOOKED_AT_CHARACTERS_MAX))
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .trim();
    return line === '' ? '(nothing)' : line.slice(0, SAID_CHARACTERS_MAX);
  }

  private withoutSecret(text: string): string {
    const { secret } = this.options;
    return secret === null || secret === 'unreadable' ? text : text.replaceAll(secret.reveal(), String(secret));
  }
}

/** Returns the message of an error body, in any of the common formats. */
function saidIn(text: string): string {
  if (text.length > LOOKED_AT_CHARACTERS_MAX) return text;
  try {
    const body: unknown = JSON.parse(text);
    const error = memberOf(body, 'error') ?? body;
    const said = typeof error === 'string' ? error : (memberOf(error, 'message') ?? memberOf(error, 'detail'));
    return typeof said === 'string' ? said : text;
  } catch {
    return text;
  }
}
