/**
 * A list whose model is changed again and again: its store keeps the vectors of the last models, but not of all that
 * there ever were.
 */
import { afterEach, expect, it } from 'vitest';
import {
  LIST_DEFINITION,
  LIST_SETTINGS,
  ListsWithModels,
  putRequest,
  written,
} from '../../../test/support/lists-with-models.js';
import { RecordStoreCache } from '../../records/index.js';
import { SPACES_MAX, useVersionsKept } from '../../store/index.js';
import type { IngestContext } from '../contract/ingest-context.js';
import { attachModel } from './meaning-handlers.js';
import { ScriptedEmbedder, ScriptedModels } from '../../../test/support/scripted-models.js';

const MODELS = 40;
const nameOf = (model: number) => `m${model}`;

const VERSIONS_KEPT = 40;

let lists: ListsWithModels;
let embedders: Readonly<Record<string, ScriptedEmbedder>>;
function opened(kept: number): ListsWithModels {
  const names = Array.from({ length: MODELS }, (_, model) => nameOf(model));
  embedders = Object.fromEntries(names.map((name) => [name, new ScriptedEmbedder({ version: name })]));
  lists = new ListsWithModels(new ScriptedModels(embedders), { GANNET_VERSIONS_KEPT: String(kept) });
  return lists;
}
afterEach(async () => {
  await lists.remove();
  useVersionsKept(2);
});

it('A list takes writes after many changes of its model, and selecting one of the last models computes nothing again', async () => {
  const list = await opened(2).create(null);
  for (let model = 0; model < MODELS; model += 1) {
    await list.applySettings({ ...LIST_SETTINGS, model: nameOf(model) });
    await written(list, putRequest('a', { title: 'One', price: model }));
    await expect.poll(() => list.meaning()).toEqual({ state: 'ready', embedded: 1, pending: 0, failed: 0 });
  }
  const kept = () => lists.inStore((_, { meaning }) => meaning?.spaces.map(({ modelVersion }) => modelVersion));
  await expect.poll(kept).toEqual(['m36', 'm37', 'm38', 'm39']);
  const calls = embedders['m37']?.calls;
  await list.applySettings({ ...LIST_SETTINGS, model: 'm37' });
  await expect.poll(() => list.meaning()).toEqual({ state: 'ready', embedded: 1, pending: 0, failed: 0 });
  expect(embedders['m37']?.calls).toBe(calls);
});

it('A list refuses more lengths of vectors that come with records than it has room for', async () => {
  await opened(2).create(null);
  const stores = new RecordStoreCache();
  const attach = (dimensions: number) =>
    attachModel({ stores } as unknown as IngestContext, {
      ...{ kind: 'attach-model', listPath: lists.path() },
      model: { model: 'own', source: 'own', modelVersion: 'own', dimensions },
    });
  try {
    for (let dimensions = 1; dimensions <= SPACES_MAX - 2; dimensions += 1) attach(dimensions);
    expect(attach(1).meaning?.spaces).toHaveLength(SPACES_MAX - 2);
    expect(() => attach(SPACES_MAX)).toThrow(expect.objectContaining({ code: 'unprocessable' }));
  } finally {
    await stores.close();
  }
});

it('A list with vectors has as many versions as GANNET_VERSIONS_KEPT', async () => {
  useVersionsKept(VERSIONS_KEPT);
  const list = await opened(VERSIONS_KEPT).create('m1');
  for (let version = 0; version < VERSIONS_KEPT + 3; version += 1) {
    await written(list, putRequest('a', { title: 'One', price: version }));
    await list.changeDefinition({ ...LIST_DEFINITION, facets: version % 2 === 0 ? [] : LIST_DEFINITION.facets });
    await expect.poll(() => list.currentVersion).toBe(version + 2);
  }
  await written(list, putRequest('a', { title: 'Two', price: 0 }));
});
