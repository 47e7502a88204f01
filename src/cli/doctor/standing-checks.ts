/** Checks of the running service by its own report: process, memory, queues, backup, and problems of any account. */
import type { ServiceClient } from '../service-client.js';
import {
  backupText,
  diskText,
  listsText,
  memoryText,
  processText,
  troubleTexts,
  waitingText,
  type ToldState,
} from '../service-state-text.js';
import { fine, notice, type Check } from './check.js';

const TROUBLES_TOLD_MAX = 20;

/** Empty for a service of an earlier release, which has no such report. */
export async function standingChecks(client: ServiceClient, account: string): Promise<Check[]> {
  const state = await client.call('service.state', { params: { account } }).then(
    (answer) => answer as ToldState,
    () => undefined,
  );
  if (state === undefined) return [];
  const backup = backupText(state, Date.now());
  const troubles = troubleTexts(state);
  const left = troubles.length - TROUBLES_TOLD_MAX;
  const told = left > 0 ? [...troubles.slice(0, TROUBLES_TOLD_MAX), `and more (gannet service state)`] : troubles;
  return [
    fine('Process', processText(state)),
    fine('Data on disk', diskText(state)),
    fine('Memory in use', memoryText(state)),
    fine('Lists of all accounts', listsText(state)),
    fine('Waiting', waitingText(state)),
    (backup.isLate ? notice : fine)('Last backup', backup.text),
    ...(troubles.length === 0 ? [fine('Troubles', 'none')] : told.map((each) => notice('Trouble', each))),
  ];
}
