/**
 * Work on the vectors of a version that is dropped while its task waits for a thread: nothing is left to do, and it is
 * no error.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ListsWithModels, putRequest as put } from '../../../test/support/lists-with-models.js';
import { hashedVector, ScriptedEmbedder, ScriptedModels } from '../../../test/support/scripted-models.js';
import type { IngestExecutor } from '../index.js';

/** The number of a version that never existed, which is treated like a dropped one, because numbers only grow. */
const GONE = 99;
let executor: IngestExecutor;
let lists: ListsWithModels;
beforeEach(async () => {
  lists = new ListsWithModels(new ScriptedModels({ mini: new ScriptedEmbedder() }), {}, (inner) => (executor = inner));
  const list = await lists.create('own');
  await list.write(put('one', { title: 'One' }, [Array.from(hashedVector('one', 8))]));
});
afterEach(() => lists.remove());

it('build-vectors makes no index for a dropped version', async () => {
  const task = { listPath: lists.path(), version: GONE, space: 1, cursor: 0, bytesMax: 2 ** 20, newSegment: 50 };
  const made = await executor.run({ kind: 'build-vectors', ...task });
  expect(made).toEqual({ segment: undefined, cursor: 0, done: true });
});

it('render-texts reports the records of a dropped version as gone', async () => {
  const task = { listPath: lists.path(), version: GONE, space: 1, recordNumbers: [1, 2] };
  const texts = await executor.run({ kind: 'render-texts', ...task });
  expect(texts.map(({ recordNumber, isGone }) => [recordNumber, isGone])).toEqual([
    [1, true],
    [2, true],
  ]);
});

it('learn-model learns from the current version instead of a dropped one', async () => {
  const task = { listPath: lists.path(), language: 'en', bytesMax: 2 ** 24 };
  const [gone, there] = [GONE, 1].map((version) => executor.run({ kind: 'learn-model', ...task, version }));
  expect(await gone).toEqual(await there);
});
