/**
 * A write to an open list while the folder of all lists is missing, for example because its disk was unmounted: the
 * client is told so, and it is no internal error.
 */
import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { ListsWithModels, putRequest as put } from '../../../test/support/lists-with-models.js';
import { ScriptedModels } from '../../../test/support/scripted-models.js';

it('A write is refused with what to do while the folder of lists is missing, changes nothing, and works when it is back', async () => {
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
