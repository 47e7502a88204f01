/** Deletes a list only if nobody but its creator has done anything with it. */
import { currentMembers, type ListRecord, type UnfinishedWork } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';
import { openIndex } from '../dispatch/list-access.js';
import type { Services } from '../dispatch/services.js';
import { finishWork } from '../dispatch/unfinished-work.js';

/** Call it in `oneChangeAtATime`. Rejects with `conflict` if the list is another one, or is used by now. */
export async function deleteUntouched(services: Services, list: ListRecord, sinceUtc: string): Promise<void> {
  const { account, name } = list;
  const gone = new ServiceError('list-not-found', 'The list has been deleted.');
  let remains: readonly UnfinishedWork[] = [];
  const index = await openIndex(services, list);
  const isDeleted = await index.endIfUnwritten(gone, async () => {
    remains = await services.catalog.deleteList(account, name, (now) => {
      assertUntouched(services, now, sinceUtc);
    });
  });
  if (!isDeleted) throw touched(list, 'records or fields were written to it, or are being written');
  // Those that were created in the same moment would become valid for a new list of this name.
  await services.access.deleteKeysOf(account, 'list', name);
  for (const work of remains) await finishWork(services, work);
}

function assertUntouched(services: Services, list: ListRecord, sinceUtc: string): void {
  const { account, name, id } = list;
  if (list.created_utc !== new Date(sinceUtc).toISOString()) throw touched(list, 'it was created at another time');
  if (list.modified_utc !== list.created_utc) throw touched(list, 'its settings were changed');
  const groups = services.catalog.groups(account);
  if (groups.some((group) => currentMembers(group).some(({ list_id }) => list_id === id)))
    throw touched(list, 'a group has it as a member');
  const keys = services.access.keys(account);
  if (keys.some(({ scope, scope_target }) => scope === 'list' && scope_target === name))
    throw touched(list, 'an API key has it as its scope');
  if (services.isUsed(list)) throw touched(list, 'it imports from a source of records');
}

function touched({ name }: ListRecord, reason: string): ServiceError {
  return new ServiceError('conflict', `The list '${name}' was not deleted: ${reason}.`);
}
