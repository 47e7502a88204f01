/**
 * Calls of a server that speaks S3: signed (AWS Signature Version 4, by aws4fetch), through the one outgoing client and its guard. What
 * the server or the way to it refuses becomes an error of the catalogue. One thread.
 */
import { AwsV4Signer } from 'aws4fetch';
import {
  type OutboundClient,
  OutboundFailedError,
  type OutboundLimits,
  type OutboundRequest,
} from '../../platform/outbound/outbound-client.js';
import type { OutboundResponse } from '../../platform/outbound/outbound-client.js';
import { OutboundRefusedError, ServiceError, type Secret } from '../../platform/index.js';
import type { S3Settings } from '../types.js';
import { STORE_FULL, STORE_UNAVAILABLE } from '../media-problems.js';
import { readS3Xml, S3XmlError, type XmlMembers } from './s3-xml.js';

const RETRIES = { attemptsMax: 3, waitMsFirst: 200, waitMsMax: 2000 };
/** Of an answer that is no file and no listing: an error, the name of an upload, a word that it is done. */
const ANSWER_BYTES_MAX = 65_536;
const ANSWER_ELEMENTS_MAX = 100;
/** Of one file in a listing: a key of 1,024 bytes, each encoded as three, and what else is said of it. */
const LISTED_BYTES_MAX = 4096;
const LISTED_ELEMENTS_MAX = 32;
/** Of a call without a body that reads no file, with all its attempts: a server may send a byte a minute. */
const SHORT_CALL_MS_MAX = 180_000;
const FULL = /StorageFull|QuotaExceeded|InsufficientCapacity/;

export interface S3ClientOptions {
  readonly client: OutboundClient;
  readonly settings: S3Settings;
  readonly secret: () => Secret;
}

export interface S3Call {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Undefined: of the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: OutboundRequest['body'];
  /** Whether it may be asked again. Default: where the body is no function, which may give its pieces only once. */
  readonly isRepeatable?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** `file`: as much as a file has, for as long as something comes. A number: so many files of a listing. Default: a few words. */
  readonly answers?: 'file' | number;
  /** Answers beside 2xx that mean something to who asks. */
  readonly expected?: readonly number[];
}

export class S3Client {
  constructor(private readonly options: S3ClientOptions) {}

  /** Resolves with an answer of 2xx or an expected one, whose body is to be read or discarded. Rejects with `store-unavailable`, `store-full`. */
  async call({ expected = [], ...call }: S3Call): Promise<OutboundResponse> {
    const response = await this.send(call);
    if (response.ok || expected.includes(response.status)) return response;
    throw await this.failure(response);
  }

  /** The members of an answer in XML. */
  async xml(call: Omit<S3Call, 'answers'> & { readonly answers?: number }): Promise<XmlMembers> {
    return this.members(await this.call(call), call.answers);
  }

  /** The same of one that is there. */
  async members(response: OutboundResponse, answers = 0): Promise<XmlMembers> {
    try {
      return await readS3Xml(response.body(), ANSWER_ELEMENTS_MAX + answers * LISTED_ELEMENTS_MAX);
    } catch (error) {
      response.discard();
      throw error instanceof S3XmlError ? unavailable(error.message, error) : asUnavailable(error);
    }
  }

  private async send(call: Omit<S3Call, 'expected'>): Promise<OutboundResponse> {
    const { method, key, query = {}, headers = {}, body, signal, isRepeatable = typeof body !== 'function' } = call;
    const { client, settings, secret } = this.options;
    const { endpoint, bucket, region, access_key_id: accessKeyId, prefix } = settings;
    const url = new URL(`${endpoint}/${bucket}${key === undefined ? '' : `/${encoded(prefix + key)}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' },
      accessKeyId,
      secretAccessKey: secret().reveal(),
      service: 's3',
      region,
    });
    const signed = await signer.sign();
    const sent = Object.fromEntries([...signed.headers].filter(([name]) => name !== 'host'));
    return unavailableOf(
      client.request({
        url: signed.url.href,
        method,
        headers: sent,
        decompress: false,
        limits: limitsOf(call),
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
        ...(isRepeatable ? { retries: RETRIES } : {}),
      }),
    );
  }

  private async failure(response: OutboundResponse): Promise<ServiceError> {
    const { status } = response;
    const code = await errorCodeOf(response);
    if (FULL.test(code))
      return new ServiceError(STORE_FULL, 'The server of the media store has no room for this file.');
    const why = status === 403 ? 'it refuses the access key' : `it answered ${status}`;
    return unavailable(code === '' ? why : `${why} (${code})`);
  }
}

function limitsOf({ answers = 0, body }: Pick<S3Call, 'answers' | 'body'>): Partial<OutboundLimits> {
  if (answers === 'file') return {};
  const bytesMax = ANSWER_BYTES_MAX + answers * LISTED_BYTES_MAX;
  return { wireBytesMax: bytesMax, bytesMax, ...(body === undefined ? { totalMs: SHORT_CALL_MS_MAX } : {}) };
}

/** Of the problem that the server tells; '' where it tells none. Reads no more than such an answer has. */
export async function errorCodeOf(response: OutboundResponse): Promise<string> {
  let text = '';
  try {
    for await (const piece of response.body()) {
      text += Buffer.from(piece).toString('latin1');
      if (text.length > ANSWER_BYTES_MAX) break;
    }
  } catch {
    // The status says enough.
  }
  return /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(text)?.[1] ?? '';
}

/** As `store-unavailable` where the way to the server failed; what else was thrown stays. */
export async function unavailableOf<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (error) {
    throw asUnavailable(error);
  }
}

export function asUnavailable(error: unknown): unknown {
  if (error instanceof OutboundRefusedError || error instanceof OutboundFailedError) {
    return unavailable(error.message, error);
  }
  return error;
}

export function unavailable(why: string, cause?: unknown): ServiceError {
  return new ServiceError(
    STORE_UNAVAILABLE,
    `The server of the media store cannot be used: ${why.replace(/\.$/, '')}.`,
    {
      retryAfterSeconds: 10,
      cause,
    },
  );
}

/** As S3 wants it: every byte but letters, digits and `-._~`, and the slashes between parts. */
function encoded(key: string): string {
  const one = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(key)
    .replace(/%2F/g, '/')
    .replace(/[!'()*]/g, one);
}
