/**
 * A model that a list's settings name but that cannot be attached: the settings are in force, and it is attached as
 * soon as possible.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LIST_DEFINITION, LIST_SETTINGS, ListsWithModels } from '../../../test/support/lists-with-models.js';
import { ScriptedEmbedder, ScriptedModels } from '../../../test/support/scripted-models.js';
import { ServiceError } from '../../platform/index.js';

const OPEN_MAX = 4;
/** With the other two, one model more than a list keeps. */
const MORE = ['m1', 'm2', 'm3', 'm4'];

let lists: ListsWithModels;
/** The number of attempts that fail next. */
let refusals: number;
/** Whether vectors of an earlier model can be deleted. */
let areForgettable: boolean;
/** Called during each attempt. */
let onAttempt: () => void;
beforeEach(() => {
  refusals = 0;
  areForgettable = true;
  onAttempt = () => undefined;
  const environment = { GANNET_LISTS_OPEN_MAX: String(OPEN_MAX) };
  lists = new ListsWithModels(
    new ScriptedModels({
      mini: new ScriptedEmbedder(),
      other: new ScriptedEmbedder({ version: 'other' }),
      ...Object.fromEntries(MORE.map((version) => [version, new ScriptedEmbedder({ version })])),
    }),
    environment,
    (inner) => ({
      waiting: 0,
      waitingByAccount: () => new Map(),
      run: (task, options) => {
        if (task.kind === 'attach-model') onAttempt();
        if (task.kind === 'forget-space' && !areForgettable) return Promise.reject(new Error('They are damaged.'));
        if (task.kind !== 'attach-model' || refusals === 0) return inner.run(task, options);
        refusals -= 1;
        return Promise.reject(new ServiceError('storage-full', 'There is no room for it.'));
      },
    }),
  );
});
afterEach(() => lists.remove());

it('A failed attachment of a model does not refuse the change of settings, and is retried', async () => {
  const list = await lists.create(null);
  refusals = 1;
  await list.applySettings({ ...LIST_SETTINGS, model: 'mini' });
  await expect.poll(() => list.meaning()).toEqual({ state: 'ready', embedded: 0, pending: 0, failed: 0 });
});

it('A failed attachment of a model is reported with the reason', async () => {
  const list = await lists.create(null);
  refusals = Number.POSITIVE_INFINITY;
  await list.applySettings({ ...LIST_SETTINGS, model: 'mini' });
  const error = 'The model could not be attached: There is no room for it.';
  await expect.poll(() => list.meaning()).toMatchObject({ state: 'failing', error });
  refusals = 0;
  await list.applySettings({ ...LIST_SETTINGS, model: 'mini' });
  expect(list.meaning()).toMatchObject({ state: 'ready' });
});

it.each([null, 'mini'])(
  'A failed attachment is reported with the reason during retries as well, if the model before was %s',
  async (before) => {
    const list = await lists.create(before);
    await expect.poll(() => list.meaning()?.state).toBe(before === null ? 'off' : 'ready');
    const seen: unknown[] = [];
    onAttempt = () => seen.push(list.meaning());
    refusals = Number.POSITIVE_INFINITY;
    await list.applySettings({ ...LIST_SETTINGS, model: 'other' });
    await expect.poll(() => seen.length).toBe(2);
    const error = 'The model could not be attached: There is no room for it.';
    expect(seen[0]).not.toHaveProperty('error');
    expect(seen[1]).toMatchObject({ state: 'failing', error });
    // No model is left to attach.
    await list.applySettings({ ...LIST_SETTINGS, model: before });
    expect(list.meaning()).not.toHaveProperty('error');
  },
);

it('A model is attached although vectors of an earlier one cannot be deleted', async () => {
  const list = await lists.create(null);
  areForgettable = false;
  const ready = () => expect.poll(() => list.meaning()).toMatchObject({ state: 'ready' });
  for (const model of ['mini', 'other', ...MORE.slice(0, 3)]) {
    await list.applySettings({ ...LIST_SETTINGS, model });
    await ready();
  }
  refusals = 1;
  await list.applySettings({ ...LIST_SETTINGS, model: 'm4' });
  await ready();
});

it('A failing attachment does not keep an unused list open, and is retried when the list is opened again', async () => {
  const list = await lists.create(null);
  refusals = Number.POSITIVE_INFINITY;
  await list.applySettings({ ...LIST_SETTINGS, model: 'mini' });
  const others = Array.from({ length: OPEN_MAX + 1 }, (_, other) => `other-${other}`);
  for (const id of others) await lists.indexes.create(id, { ...LIST_SETTINGS, list: id }, LIST_DEFINITION);
  const useOthers = async () => {
    for (const id of others) (await lists.indexes.open(id, { ...LIST_SETTINGS, list: id })).lease().release();
    return lists.indexes.opened('a1');
  };
  await expect.poll(useOthers, { interval: 5 }).toBeUndefined();
  expect(list.meaning()).toMatchObject({ state: 'failing' });
  refusals = 0;
  list.lease().release();
  await expect.poll(() => list.meaning()).toMatchObject({ state: 'ready' });
});
