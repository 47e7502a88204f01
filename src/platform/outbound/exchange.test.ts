/** How the parts of an answer are passed on. */
import { once } from 'node:events';
import type { Dispatcher } from 'undici';
import { expect, it } from 'vitest';
import { CallEnd } from './call-end.js';
import { exchanged } from './exchange.js';

const PIECES = 10_000;

/** Returns a dispatcher that answers with these parts within one turn. */
function answering(pieces: readonly Buffer[]): Dispatcher {
  const controller = { pause: () => undefined, resume: () => undefined, abort: () => undefined };
  const dispatch = (_asked: unknown, handler: Dispatcher.DispatchHandler) => {
    const known = controller as unknown as Dispatcher.DispatchController;
    handler.onResponseStart?.(known, 200, {}, 'OK');
    for (const piece of pieces) handler.onResponseData?.(known, piece);
    handler.onResponseEnd?.(known, {});
    return true;
  };
  return { dispatch } as unknown as Dispatcher;
}

it('exchanged joins many small parts of an answer into one', async () => {
  const bytes = Buffer.from(Array.from({ length: PIECES }, (_, place) => place % 256));
  const long = Buffer.alloc(PIECES, 'x');
  const pieces = [...bytes].map((byte) => Buffer.from([byte]));
  const end = new CallEnd(100_000, undefined);
  const { body } = await exchanged(answering([...pieces, long, ...pieces]), { path: '/', method: 'GET' }, end);
  end.release();
  const came: Buffer[] = [];
  body?.on('data', (piece: Buffer) => came.push(piece));
  await once(body as NonNullable<typeof body>, 'end');
  expect(Buffer.concat(came).equals(Buffer.concat([bytes, long, bytes]))).toBe(true);
  expect(came).toHaveLength(3);
});
