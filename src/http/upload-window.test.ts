import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IncomingBody } from './incoming-body.js';
import { UploadWindow } from './upload-window.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A client that keeps sending as long as it is not paused. */
class Sender {
  isPaused = false;
  readonly body: IncomingBody;
  received = 0;

  constructor(window: UploadWindow) {
    const source = { pause: () => void (this.isPaused = true), resume: () => void (this.isPaused = false) };
    this.body = new IncomingBody(source, { bytesMax: 1e9, window });
  }

  send(bytes: number): void {
    this.body.push(new Uint8Array(bytes));
    this.body.settle();
  }

  async takeAll(): Promise<void> {
    for await (const piece of this.body.stream()) {
      this.received += piece.byteLength;
      await turn();
    }
  }
}

it('Unread bodies hold no more than the upload window and one part', () => {
  const window = new UploadWindow(100_000);
  const senders = Array.from({ length: 1000 }, () => new Sender(window));
  for (const sender of senders) if (!sender.isPaused) sender.send(30_000);
  expect(window.usedBytes).toBeLessThanOrEqual(130_000);
  expect(senders.every(({ isPaused }) => isPaused)).toBe(true);
});

it('All bodies end, whatever is sent, read and aborted, and the upload window is empty afterwards', async () => {
  const steps = fc.array(fc.tuple(fc.nat(19), fc.integer({ min: 0, max: 90_000 }), fc.nat(9)), { maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(steps, async (sent) => {
      const window = new UploadWindow(150_000);
      const senders = Array.from({ length: 20 }, () => new Sender(window));
      const taken = senders.map((sender) => sender.takeAll().catch((error: Error) => error.message));
      for (const [which, bytes, action] of sent) {
        const sender = senders[which] as Sender;
        if (action === 0) sender.body.fail(new Error('gone'));
        else if (!sender.isPaused) sender.send(bytes);
        if (action === 1) await turn();
      }
      for (const sender of senders) {
        while (sender.isPaused) await turn();
        sender.body.end();
      }
      for (const outcome of await Promise.all(taken)) expect([undefined, 'gone']).toContain(outcome);
      expect(window.usedBytes).toBe(0);
    }),
    { numRuns: 40 },
  );
});

it('A reader that stops early returns its share of the upload window', async () => {
  const window = new UploadWindow(100_000);
  const sender = new Sender(window);
  sender.send(60_000);
  sender.send(60_000);
  for await (const piece of sender.body.stream()) {
    expect(piece.byteLength).toBe(60_000);
    break;
  }
  expect(window.usedBytes).toBe(0);
});
