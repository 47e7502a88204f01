/**
 * Finishes what is done outside of the catalogue when a list or group is created or deleted, now or at the start after
 * a crash. The catalogue records the work until it is done, and only recorded things are ever removed.
 */
import type { UnfinishedWork } from '../../catalog/index.js';
import { within } from '../../platform/index.js';
import type { Services } from './services.js';

/** Longest time that a deletion waits for features to forget what they have: years of analytics take longer. */
const FORGET_WAIT_MS_MAX = 2000;

/**
 * Never rejects: failures are logged, and the work is done at the next start. If features take long to forget what they
 * have, the work is taken off later, when they have done so.
 */
export async function finishWork(services: Services, work: UnfinishedWork): Promise<void> {
  const { catalog, indexes } = services;
  const { kind, subject, id } = work;
  await loggingFailure(services, work, async () => {
    if (kind === 'making') {
      await indexes.discard(id);
    } else if (kind === 'removing') {
      const forgotten = services.forget(work);
      const [isForgotten] = await Promise.all([
        within(FORGET_WAIT_MS_MAX, forgotten),
        subject === 'list' ? indexes.remove(id) : undefined,
        subject === 'account' ? services.access.deleteKeysOfAccount(work.account) : undefined,
      ]);
      if (isForgotten === undefined) void finishLate(services, work, forgotten);
      if (isForgotten !== true) return;
    }
    await catalog.finish(work);
  });
}

function finishLate(services: Services, work: UnfinishedWork, forgotten: Promise<boolean>): Promise<void> {
  return loggingFailure(services, work, async () => {
    if (await forgotten) await services.catalog.finish(work);
  });
}

async function loggingFailure(
  { log }: Services,
  { kind, subject, id, account, name }: UnfinishedWork,
  action: () => Promise<void>,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    const left =
      kind === 'leaving'
        ? 'Groups that had the list are written without it at the next start; they are told and searched without it already'
        : 'What is left of a deletion is removed at the next start';
    log.error({ err: error, account, [subject]: name, id }, left);
  }
}
