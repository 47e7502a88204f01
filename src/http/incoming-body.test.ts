import { describe, expect, it } from 'vitest';
import { ServiceError } from '../platform/index.js';
import { ClientGone } from './exchange.js';
import { IncomingBody, type IncomingBodyOptions } from './incoming-body.js';

const MEBIBYTE = 1_048_576;

function newBody(options: Partial<IncomingBodyOptions> = {}) {
  const seen: string[] = [];
  const source = { pause: () => seen.push('pause'), resume: () => seen.push('resume') };
  const body = new IncomingBody(source, { bytesMax: 100 * MEBIBYTE, ...options });
  const push = (bytes: number) => {
    body.push(new Uint8Array(bytes));
    body.settle();
  };
  return { body, seen, push };
}

describe('IncomingBody', () => {
  it('pauses the sender while too much is unread, and resumes when it is read', async () => {
    const { body, seen, push } = newBody();
    for (let count = 0; count < 6; count += 1) push(MEBIBYTE);
    expect(seen).toEqual(['pause']);
    const stream = body.stream();
    for (let count = 0; count < 6; count += 1) await stream.next();
    expect(seen).toEqual(['pause']);
    const more = stream.next();
    expect(seen).toEqual(['pause', 'resume']);
    push(1);
    expect((await more).value).toHaveLength(1);
    body.end();
    expect((await stream.next()).done).toBe(true);
  });

  it('joins short chunks of one turn up to a limit, and returns the last ones at once', async () => {
    const { body, push } = newBody();
    const pieces: number[] = [];
    const taken = (async () => {
      for await (const piece of body.stream()) pieces.push(piece.byteLength);
    })();
    for (let turn = 0; turn < 2; turn += 1) {
      for (let count = 0; count < 10; count += 1) {
        push(100);
        await Promise.resolve();
      }
      await new Promise(setImmediate);
    }
    for (let count = 0; count < 10; count += 1) push(10_000);
    body.end();
    await taken;
    expect(pieces).toEqual([1000, 1000, 60_000, 40_000]);
  });

  it('never pauses when it is read whole', async () => {
    const { body, push } = newBody();
    const whole = body.whole();
    for (let count = 0; count < 12; count += 1) {
      push(MEBIBYTE);
      await Promise.resolve();
    }
    body.end();
    expect((await whole).byteLength).toBe(12 * MEBIBYTE);
  });

  it('fails as soon as it is too large, and keeps nothing', async () => {
    const { body, push } = newBody({ bytesMax: 1000 });
    push(900);
    push(101);
    push(1);
    await expect(body.whole()).rejects.toMatchObject({ code: 'body-too-large' });
  });

  it('ends its stream with the first failure, whatever is unread', async () => {
    const { body, push } = newBody();
    push(10);
    body.fail(new ClientGone());
    body.fail(new Error('second'));
    await expect(body.stream().next()).rejects.toThrow(ClientGone);
  });

  it('waits for memory with what came with the head, and then reads into a buffer of the announced length', async () => {
    let admit = () => {};
    const ready = new Promise<void>((resolve) => (admit = resolve));
    const { body, seen, push } = newBody({ announcedBytes: 200_000, ready });
    expect(seen).toEqual(['pause']);
    push(50_000);
    const whole = body.whole();
    await Promise.resolve();
    expect(seen).toEqual(['pause']);
    admit();
    await expect.poll(() => seen).toEqual(['pause', 'resume']);
    push(150_000);
    body.end();
    const bytes = await whole;
    expect(bytes.byteLength).toBe(200_000);
    expect(bytes.buffer.byteLength).toBe(200_000);
  });

  it('fails with the error of waiting for memory, and discards the rest', async () => {
    const ready = Promise.reject(new ServiceError('overloaded', 'no room'));
    const { body, seen, push } = newBody({ announcedBytes: 200_000, ready });
    push(50_000);
    await expect(body.whole()).rejects.toMatchObject({ code: 'overloaded' });
    expect(seen).toEqual(['pause', 'resume']);
  });

  it('stops waiting for memory when its client leaves', async () => {
    const { body } = newBody({ ready: new Promise<void>(() => undefined) });
    const first = body.stream().next();
    body.fail(new ClientGone());
    await expect(first).rejects.toThrow(ClientGone);
  });

  it('leaves no connection paused, because its next request would never be read', async () => {
    const { body, seen, push } = newBody();
    // What the transport had already read comes after the pause, even the last part.
    for (let count = 0; count < 6; count += 1) push(MEBIBYTE);
    expect(seen).toEqual(['pause']);
    push(1);
    body.end();
    body.settle();
    expect(seen).toEqual(['pause', 'resume']);
    expect(body.needsTime).toBe(true);
    let bytes = 0;
    for await (const chunk of body.stream()) bytes += chunk.byteLength;
    expect(bytes).toBe(6 * MEBIBYTE + 1);
    expect(seen).toEqual(['pause', 'resume']);

    // A pause stays a pause while time is given to it.
    const waiting = newBody();
    for (let count = 0; count < 6; count += 1) waiting.push(MEBIBYTE);
    waiting.body.giveTime();
    expect(waiting.seen).toEqual(['pause', 'pause']);

    // The request is answered before all of the body is there.
    const refused = newBody();
    for (let count = 0; count < 6; count += 1) refused.push(MEBIBYTE);
    refused.body.letGo();
    expect(refused.seen).toEqual(['pause', 'resume']);
  });

  it('may be empty', async () => {
    const { body } = newBody();
    body.end();
    expect(body.needsTime).toBe(false);
    expect((await body.whole()).byteLength).toBe(0);
  });
});
