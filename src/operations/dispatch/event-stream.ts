/**
 * An answer without end: server-sent events (WHATWG HTML, section 9.2). Its creator decides what is sent when; the
 * front end reports when the client is gone or behind.
 */
export const EVENT_STREAM_TYPE = 'text/event-stream';

export interface EventClient {
  /** True if the client has not received what was sent before: what can wait should not be sent. */
  readonly isBehind: boolean;
  /** Sends complete events, or a comment, in order; does nothing once the stream is over. */
  send(text: string): void;
  /** Ends the stream; the client reconnects by itself, after the time it was told. */
  end(): void;
}

export class EventStream {
  /**
   * `open` starts the stream; the function that it returns is called once, when the stream is over, whoever ended it.
   */
  constructor(readonly open: (client: EventClient) => () => void) {}
}

/** Formats one event with JSON, which contains no line feeds. */
export function eventText(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
