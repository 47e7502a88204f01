/** Work on the vectors of a version that goes while its task waits for a thread: nothing is left to do, which is no fault. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ListsWithModels, putRequest as put } from '../../../test/support/lists-with-models.js';
import { hashedVector, ScriptedEmbedder, ScriptedModels } from '../../../test/support/scripted-models.js';
import type { IngestExecutor } from '../index.js';

/** Numbers of versions only grow: one that there never was is as one that is gone. */
const GONE = 99;
let executor: IngestExecutor;
let lists: ListsWithModels;
beforeEach(async () => {
  lists = new ListsWithModels(new ScriptedModels({ mini: new ScriptedEmbedder() }), {}, (inner) => (executor = inner));
  const list = await lists.create('own');
  await list.write(put('one', { title: 'One' }, [Array.from(hashedVector('one', 8))]));
});
afterEach(() => lists.remove());

it('makes no index of it', async () => {
  const task = { listPath: lists.path(), version: GONE, space: 1, cursor: 0, bytesMax: 2 ** 20, newSegment: 50 };
  const made = await executor.run({ kind: 'build-vectors', ...task });
  expect(made).toEqual({ segment: undefined, cursor: 0, done: true });
});

it('has no text of its records', async () => {
  const task = { listPath: lists.path(), version: GONE, space: 1, recordNumbers: [1, 2] };
  const texts = await executor.run({ kind: 'render-texts', ...task });
  expect(texts.map(({ recordNumber, isGone }) => [recordNumber, isGone])).toEqual([
    [1, true],
    [2, true],
  ]);
});

it('learns from the version that there is', async () => {
  const task = { listPath: lists.path(), language: 'en', bytesMax: 2 ** 24 };
  const [gone, there] = [GONE, 1].map((version) => executor.run({ kind: 'learn-model', ...task, version }));
  expect(await gone).toEqual(await there);
});
