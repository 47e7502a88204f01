/**
 * An answer that goes on: server-sent events (WHATWG HTML, section 9.2). Whoever makes one says what is to be sent when; the front end
 * says when the client is gone or behind.
 */
export const EVENT_STREAM_TYPE = 'text/event-stream';

export interface EventClient {
  /** It has not taken what was sent before: what can wait should. */
  readonly isBehind: boolean;
  /** Finished events, or a comment. Sent in order; nothing happens once the stream is over. */
  send(text: string): void;
  /** The client comes back by itself, after the time it was told. */
  end(): void;
}

export class EventStream {
  /** `open` begins it; what it returns is called once, when the stream is over, whoever ended it. */
  constructor(readonly open: (client: EventClient) => () => void) {}
}

/** One event with JSON, which has no line feeds of its own. */
export function eventText(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
