/** A request of Node.js's server with the interface of uWebSockets.js. */
import type { IncomingMessage } from 'node:http';
import type { WireRequest } from './wire.js';

const BEYOND_ASCII = /[^\0-\x7f]/;

export class NodeRequest implements WireRequest {
  readonly #message: IncomingMessage;
  readonly #question: number;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.#question = this.#url.indexOf('?');
  }

  get #url(): string {
    return this.#message.url ?? '/';
  }

  getMethod(): string {
    return this.#message.method ?? 'GET';
  }

  getUrl(): string {
    return asUtf8(this.#question === -1 ? this.#url : this.#url.slice(0, this.#question));
  }

  /** Returns '' if there is no `?`. */
  getQuery(): string;
  getQuery(key: string): string | undefined;
  getQuery(key?: string): string | undefined {
    const query = this.#question === -1 ? '' : asUtf8(this.#url.slice(this.#question + 1));
    return key === undefined ? query : (new URLSearchParams(query).get(key) ?? undefined);
  }

  /** Returns the first header of that name, as uWebSockets.js does. The header `cookie` is always taken whole. */
  getHeader(name: string): string {
    const value = this.#message.headers[name];
    // Node.js joins repeated headers of most names by commas.
    const isPerhapsSeveral = Array.isArray(value) || (value?.includes(', ') === true && name !== 'cookie');
    return (isPerhapsSeveral ? this.#message.headersDistinct[name]?.[0] : value) ?? '';
  }

  forEach(action: (name: string, value: string) => void): void {
    const { rawHeaders } = this.#message;
    for (let at = 0; at + 1 < rawHeaders.length; at += 2)
      action((rawHeaders[at] ?? '').toLowerCase(), rawHeaders[at + 1] ?? '');
  }
}

/** Decodes text in which Node.js made a character of each byte. */
function asUtf8(text: string): string {
  return BEYOND_ASCII.test(text) ? Buffer.from(text, 'latin1').toString() : text;
}
