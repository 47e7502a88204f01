/** Opens plans: registers them with those who ask for limits, and writes search counts. */
import { SEARCH_COUNTER } from '../access/index.js';
import { listFolder } from '../index/index.js';
import { provide, type FeatureParts, type FeaturePlatform } from '../operations/index.js';
import { settingsOf } from '../platform/index.js';
import { ListStorage } from './list-storage.js';
import { PLANS } from './part.js';
import { planOperations } from './plan-operations.js';
import { offeredPlans, PLAN_SETTINGS, planOfNewcomers } from './plan-settings.js';
import { Plans } from './plans.js';
import { RecordLedger } from './record-ledger.js';
import { SearchCounts } from './search-counts.js';
import { Subscriptions } from './subscriptions.js';

/** Interval of writes. A killed process loses the counts since the last one. */
const WRITE_MS = 5000;

export const planParts: FeatureParts = {
  operations: planOperations,
  open(platform) {
    const { environment, catalog, indexes, config, clock, log, dataDir } = platform;
    const settings = settingsOf(config, PLAN_SETTINGS);
    const offered = offeredPlans(settings.offered);
    const newcomers = planOfNewcomers(settings.sign_up, offered);
    const subscriptions = new Subscriptions({ environment, plans: offered, catalog, clock });
    for (const plan of subscriptions.unknownPlans) {
      log.warn({ plan }, 'Accounts without limits: the settings do not offer their plan');
    }
    const searches = new SearchCounts(environment, clock);
    const plans = new Plans({
      subscriptions,
      searches,
      ledger: new RecordLedger(indexes, catalog),
      storage: new ListStorage((listId) => listFolder(dataDir, listId)),
      upgradePercent: settings.upgrade_percent,
      log,
    });
    plans.meter('lists', (account) => catalog.lists(account).length);
    indexes.useQuota(plans);
    catalog.useQuota(plans);
    const writing = writer(plans, searches, platform);
    return {
      parts: [
        provide(PLANS, { plans, offered: [...offered.values()], planOfNewcomers: newcomers }),
        provide(SEARCH_COUNTER, plans),
      ],
      async forget({ subject, account }) {
        if (subject === 'account') await plans.forget(account);
        return true;
      },
      troubles: () => Promise.resolve(subscriptions.troubles()),
      start: writing.start,
      async close() {
        await writing.stop();
        await plans.settled();
      },
    };
  },
};

/** Writes search counts every few seconds, one write at a time, and checks the plans of accounts that searched. */
function writer(plans: Plans, searches: SearchCounts, { log }: FeaturePlatform) {
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();
  const write = async () => {
    const { active } = searches;
    if (active.length === 0) return;
    try {
      await searches.write();
    } catch (error) {
      log.warn({ err: error }, 'Could not save the search counts of accounts; will retry');
    }
    for (const account of active) await plans.consider(account);
  };
  const later = () => {
    timer = setTimeout(() => {
      last = write().finally(later);
    }, WRITE_MS).unref();
  };
  return {
    start: later,
    async stop() {
      clearTimeout(timer);
      await last;
      clearTimeout(timer);
      await write();
    },
  };
}
