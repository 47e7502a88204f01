/** A write to a list that is open while the folder of all lists is away, as where its disk was unmounted: it is told so, and is no fault. */
import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { ListsWithModels, putRequest as put } from '../../../test/support/lists-with-models.js';
import { ScriptedModels } from '../../../test/support/scripted-models.js';

it('is refused with what to do, changes nothing, and is taken when the folder is back', async () => {
  const lists = new ListsWithModels(new ScriptedModels({}));
  const list = await lists.create(null);
  await list.write(put('one', { title: 'One' }));
  const folder = dirname(lists.path());
  renameSync(folder, `${folder}-away`);
  const refused = { code: 'storage-failed', detail: expect.stringContaining('cannot be reached') as string };
  await expect(list.write(put('two', { title: 'Two' }))).rejects.toMatchObject(refused);
  renameSync(`${folder}-away`, folder);
  await list.write(put('two', { title: 'Two' }));
  const count = await lists.inStore((store, state) => store.version(state.currentVersion).recordCount());
  expect(count).toBe(2);
  await lists.remove();
});
