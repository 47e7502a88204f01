/**
 * Finishes what is done outside of the catalogue when a list or group is created or deleted, now or at the start after
 * a crash. The catalogue records the work until it is done, and only recorded things are ever removed.
 */
import type { UnfinishedWork } from '../../catalog/index.js';
import type { Services } from './services.js';

/** Never rejects: failures are logged, and the work is done at the next start. */
export async function finishWork(services: Services, work: UnfinishedWork): Promise<void> {
  const { catalog, indexes, log } = services;
  const { kind, subject, id, account, name } = work;
  try {
    if (kind === 'making') {
      await indexes.discard(id);
    } else if (kind === 'removing') {
      const [isForgotten] = await Promise.all([
        services.forget(work),
        subject === 'list' ? indexes.remove(id) : undefined,
        subject === 'account' ? services.access.deleteKeysOfAccount(account) : undefined,
      ]);
      if (!isForgotten) return;
    }
    await catalog.finish(work);
  } catch (error) {
    const left =
      kind === 'leaving'
        ? 'Groups that had the list are written without it at the next start; they are told and searched without it already'
        : 'What is left of a deletion is removed at the next start';
    log.error({ err: error, account, [subject]: name, id }, left);
  }
}
