/**
 * Client of servers that speak S3: signs requests (AWS Signature Version 4, by aws4fetch) and sends them through the
 * common outgoing client and its guard. Converts failures into errors of the catalogue. One thread.
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
/** Limits on answers other than files and listings: errors, upload ids, confirmations. */
const ANSWER_BYTES_MAX = 65_536;
const ANSWER_ELEMENTS_MAX = 100;
/** Limits per file of a listing: a key of 1,024 bytes, each encoded as three, and the other members. */
const LISTED_BYTES_MAX = 4096;
const LISTED_ELEMENTS_MAX = 32;
/**
 * Time limit, over all attempts, of calls that neither send a body nor read a file: a server may send one byte per
 * minute.
 */
const SHORT_CALL_MS_MAX = 180_000;
const FULL = /StorageFull|QuotaExceeded|InsufficientCapacity/;

export interface S3ClientOptions {
  readonly client: OutboundClient;
  readonly settings: S3Settings;
  readonly secret: () => Secret;
}

export interface S3Call {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Undefined for the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: OutboundRequest['body'];
  /**
   * True if the request may be repeated. Default: unless the body is a function, which may yield its pieces only once.
   */
  readonly isRepeatable?: boolean;
  readonly signal?: AbortSignal | undefined;
  /**
   * Expected answer. `file`: any length, as long as bytes keep coming. A number: a listing of so many files. Default: a
   * short answer.
   */
  readonly answers?: 'file' | number;
  /** Statuses besides 2xx that the caller handles. */
  readonly expected?: readonly number[];
}

export class S3Client {
  constructor(private readonly options: S3ClientOptions) {}

  /**
   * Resolves with an answer of status 2xx or an expected one; its body has to be read or discarded. Rejects with
   * `store-unavailable` or `store-full`.
   */
  async call({ expected = [], ...call }: S3Call): Promise<OutboundResponse> {
    const response = await this.send(call);
    if (response.ok || expected.includes(response.status)) return response;
    throw await this.failure(response);
  }

  /** Makes a call and returns the members of its XML answer. */
  async xml(call: Omit<S3Call, 'answers'> & { readonly answers?: number }): Promise<XmlMembers> {
    return this.members(await this.call(call), call.answers);
  }

  /** Returns the members of an XML answer. */
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

/** Returns the error code in an answer, or '' if there is none. Reads at most ANSWER_BYTES_MAX. */
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

/** Converts failures of the connection into `store-unavailable`; other errors stay. */
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

/** Encodes a key as S3 requires: every byte but letters, digits, `-._~` and slashes. */
function encoded(key: string): string {
  const one = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(key)
    .replace(/%2F/g, '/')
    .replace(/[!'()*]/g, one);
}
