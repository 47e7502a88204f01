/** HTTP as bytes on a socket, for requests that no client would send. */
import { connect, type NetConnectOpts } from 'node:net';

export interface RawExchange {
  /** One text per answer, in order: `200`, `400 problem`, `505 html`. */
  readonly answers: readonly string[];
  /** True if the service closed the connection. */
  readonly closed: boolean;
  readonly text: string;
}

export type Piece = string | { readonly afterAnswers: number } | { readonly afterMs: number };

export interface RawOptions {
  /** Sent one after the other, each in its own write. A piece may also wait for answers, or for some time. */
  readonly pieces: readonly Piece[];
  /** Number of answers to wait for; with `closed`, waits for the end of the connection too. */
  readonly answers: number;
  readonly closed: boolean;
  /** True to close the sending side after the last piece. */
  readonly halfClosed?: boolean;
}

const GIVE_UP_MS = 240_000;
const INTERIM_MAX = 199;

interface ParsedAnswer {
  readonly label: string;
  readonly end: number;
}

/**
 * Sends the pieces. Resolves when everything expected has arrived, the connection is closed, or nothing more can
 * arrive.
 */
export function rawExchange(target: NetConnectOpts, options: RawOptions): Promise<RawExchange> {
  return new Promise((resolve) => {
    // Latin-1 maps bytes to characters one to one.
    const socket = connect({ ...target, allowHalfOpen: true } as NetConnectOpts).setEncoding('latin1');
    const pieces = [...options.pieces];
    let text = '';
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ answers: answersOf(text, closed).map(({ label }) => label), closed, text });
    };
    const timer = setTimeout(() => finish(false), GIVE_UP_MS);
    const goOn = () => {
      const count = answersOf(text, false).length;
      for (let piece = pieces[0]; piece !== undefined; piece = pieces[0]) {
        if (typeof piece === 'string') {
          socket.write(piece, 'latin1');
        } else if ('afterMs' in piece) {
          pieces[0] = { afterAnswers: Number.POSITIVE_INFINITY };
          setTimeout(() => {
            pieces.shift();
            goOn();
          }, piece.afterMs);
          return;
        } else if (count < piece.afterAnswers) {
          return;
        }
        pieces.shift();
      }
      if (options.halfClosed === true) socket.end();
      if (!options.closed && count >= options.answers) finish(false);
    };
    socket.on('connect', goOn);
    socket.on('data', (chunk: string) => {
      text += chunk;
      goOn();
    });
    socket.on('end', () => finish(true));
    // A reset also closes the connection.
    socket.on('error', () => finish(true));
  });
}

/** Returns the complete answers at the beginning of the text. An answer without a length ends with the connection. */
function answersOf(text: string, closed: boolean): ParsedAnswer[] {
  const answers: ParsedAnswer[] = [];
  for (let at = 0; at < text.length;) {
    const answer = answerAt(text, at, closed);
    if (answer === undefined) break;
    answers.push(answer);
    at = answer.end;
  }
  return answers;
}

function answerAt(text: string, at: number, closed: boolean): ParsedAnswer | undefined {
  const headEnd = text.indexOf('\r\n\r\n', at);
  if (headEnd === -1) return undefined;
  const head = text.slice(at, headEnd);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  const isInterim = status <= INTERIM_MAX;
  const begin = headEnd + 4;
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length === undefined && status !== 204 && !isInterim) {
    return closed ? { label: `${status} html`, end: text.length } : undefined;
  }
  const end = begin + Number(length ?? 0);
  if (end > text.length) return undefined;
  return { label: labelOf(status, text.slice(begin, end)), end };
}

/** Requires a problem document to be complete JSON with the status of its answer. */
function labelOf(status: number, body: string): string {
  if (status < 400 || body === '') return String(status);
  const problem = JSON.parse(body) as { status?: unknown; code?: unknown };
  return problem.status === status && typeof problem.code === 'string' ? `${status} problem` : `${status} other`;
}
