/** How many bytes of files are in memory at once. */
import { expect, it } from 'vitest';
import { createMetrics } from '../platform/metrics.js';
import { createResourceMetrics } from './resource-metrics.js';
import { NEVER } from '../platform/index.js';
import { ResourceReader } from './resource-reader.js';

const noneIsRead = () => Promise.reject(new Error('none is read'));

it('ResourceReader holds no more bytes of files than its limit, and a larger file alone', async () => {
  let held = 0;
  let heldMax = 0;
  let sizes: number[] = [];
  const sizesTogether: number[][] = [];
  const reader = new ResourceReader({
    documents: {
      read: async (bytes) => {
        held += bytes.length;
        heldMax = Math.max(heldMax, held);
        sizes.push(bytes.length);
        sizesTogether.push([...sizes]);
        await new Promise((resolve) => setImmediate(resolve));
        held -= bytes.length;
        sizes = sizes.toSpliced(sizes.indexOf(bytes.length), 1);
        return { pages: [], pageCount: 0, truncated: false };
      },
    },
    web: async ({ url, room }) => {
      const bytes = Number(url.split('/').at(-1));
      await room(bytes);
      return { kind: 'bytes', bytes: new Uint8Array(bytes).fill(bytes % 251), validators: {} };
    },
    media: () => Promise.reject(new Error('none is asked for')),
    metrics: createResourceMetrics(createMetrics()),
    pictures: { of: () => undefined, describe: noneIsRead, describeFrames: noneIsRead },
    shared: { fetch: noneIsRead, close: () => Promise.resolve() },
    frames: { version: '', read: noneIsRead },
    framesParallel: 1,
    recordings: { read: noneIsRead },
    bytesMax: { document: 10_000, image: 10_000, video: 10_000, audio: 10_000, frames: 10_000 },
    models: { transcriber: () => undefined },
    transcriptionBytesMax: 1000,
    transcribedMax: 1,
    transcriptionRetryMs: [],
    subtitleBytesMax: 1000,
    // Three quarters of it are for files without a call of a model.
    heldBytesMax: 2667,
    parallel: 8,
    parallelPerList: 8,
    checkMs: 1000,
    retryMs: [],
  });
  const wanted = [400, 300, 300, 900, 5000, 100, 999, 50, 700, 10];
  const outcomes = await Promise.all(
    wanted.map((bytes) =>
      reader.read({ account: 'default', url: `https://a.example/${bytes}`, kind: 'document', known: undefined }, NEVER),
    ),
  );
  expect(outcomes.map(({ kind }) => kind)).toEqual(wanted.map(() => 'read'));
  // A file takes twice its bytes, of 2,000.
  for (const together of sizesTogether)
    expect(together.length === 1 || together.reduce((sum, bytes) => sum + bytes, 0) <= 1000).toBe(true);
  expect(heldMax).toBe(5000);
  expect(sizesTogether.some((together) => together.length > 2)).toBe(true);
});
