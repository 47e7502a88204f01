import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { builtInWorker } from './embedding-worker.js';

const work = [{ lane: 'm', item: 7, number: 1, dueMs: 0 }];
const worker = (embed: () => Promise<[]>) =>
  builtInWorker({ model: 'm', embed, onOutcome: () => undefined, onMissing: () => undefined });

it('each batch leaves nothing with the signal, which ends with the list', async () => {
  const { signal } = new AbortController();
  const embedder = worker(() => Promise.resolve([]));
  for (let batch = 0; batch < 3; batch += 1) await embedder.perform(work, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('a model that does not heed the signal keeps nobody waiting', async () => {
  const abort = new AbortController();
  const performed = worker(() => new Promise<[]>(() => undefined)).perform(work, abort.signal);
  abort.abort();
  expect(await performed).toMatchObject([{ verdict: 'unavailable', result: { reason: 'stopped' } }]);
});
