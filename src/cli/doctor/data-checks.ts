/** Checks of the data directory: permissions, current user, and contents. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import {
  dataDirectoryFault,
  ownerBesideRoot,
  systemReason,
  toldUnreachable,
  unreachableEntries,
} from '../../platform/index.js';
import { membersOf } from '../answers.js';
import type { CommandContext } from '../command-context.js';
import { connectControlSocket } from '../control-socket-client.js';
import { formatCounted, formatRecords } from '../output.js';
import { OtherReleaseError, toldOfOtherRelease } from '../other-release.js';
import { describeProblem, ProblemError } from '../problem.js';
import type { ServiceClient } from '../service-client.js';
import { readListing } from '../listing.js';
import type { ListResource } from '../commands/list.js';
import { failed, fine, messageOf, notice, type Check } from './check.js';
import {
  catalogueChecks,
  featureChecks,
  modeCheck,
  secretsCheck,
  setAsideCheck,
  storedSecretsCheck,
  unknownListsCheck,
  unreadableCheck,
} from './folder-checks.js';
import { transcriptionCheck } from './recording-checks.js';
import { standingChecks } from './standing-checks.js';
import { notComparedCheck, outdatedIndexes } from './index-checks.js';
import {
  checksInShort,
  listsOnDiskCheck,
  meaningChecks,
  missingSegmentsCheck,
  segmentSumsCheck,
  servedListsCheck,
  unavailableListChecks,
} from './list-checks.js';

const PROBLEMS_TOLD_MAX = 3;
const LISTS_AT_A_TIME = 4;

export async function dataDirectoryChecks({ config, load }: CommandContext): Promise<Check[]> {
  const folder = resolve(config.data.dir);
  const fault = dataDirectoryFault(folder);
  if (fault !== undefined) return [failed('Data directory', `${folder} cannot be used: ${fault}`)];
  if (!existsSync(folder)) return [fine('Data directory', `${folder} does not exist yet; the first start creates it`)];
  const barred = unreachableEntries(folder);
  if (barred.length > 0) return [failed('Data directory', `${folder} cannot be used: ${toldUnreachable(barred)}`)];
  const checks = [fine('Data directory', `${folder} is writable`)];
  let client: ServiceClient | undefined;
  try {
    client = await connectControlSocket(config, load);
    checks.push(listsOnDiskCheck(folder), modeCheck(folder), unknownListsCheck(folder), await setAsideCheck(folder));
    const owner = client === undefined ? ownerBesideRoot(folder) : undefined;
    if (owner !== undefined) {
      // Opening a store creates files next to it, so it is done as the owner.
      checks.push(
        notice(
          'Service',
          `not running. The data belongs to the user with id ${owner}: run gannet doctor as that user to check the rest`,
        ),
      );
    } else if (client === undefined) {
      checks.push(fine('Service', 'not running on this data directory'));
      checks.push(...(await catalogueChecks(folder)), await storedSecretsCheck(folder, config.secrets.keys));
      checks.push(...(await featureChecks(folder)), await portCheck(config.server));
    } else {
      checks.push(...(await serviceChecks(client, config.account.name)));
    }
  } catch (error) {
    const told = client === undefined ? error : await toldOfOtherRelease(client, error);
    const check = told instanceof OtherReleaseError ? notice : failed;
    checks.push(check('Service', messageOf(told)));
  } finally {
    await client?.close();
  }
  return checks;
}

/** Checks that only the running service can make, since it has the catalogue and the stores open. */
async function serviceChecks(client: ServiceClient, account: string): Promise<Check[]> {
  const answer = await readListing(client, 'list.list', { account });
  const lists = membersOf<ListResource>(answer, 'lists');
  const records = lists.reduce((sum, list) => sum + list.record_count, 0);
  const detail = `running; account ${account}: ${formatCounted(lists.length, 'list')}, ${formatRecords(records)}`;
  const lost = membersOf<string>(await client.call('secret.check', {}), 'unreadable');
  // A service whose data directory is gone is not ready; other checks report that.
  const ready = await client.call('system.ready', {}).then(
    (answer) => [unreadableCheck(membersOf<string>(answer, 'unreadable'))],
    () => [],
  );
  const transcription = await transcriptionCheck(client, account, answer);
  const standing = await standingChecks(client, account);
  return [
    fine('Service', detail),
    servedListsCheck(account, answer),
    secretsCheck(lost),
    ...ready,
    ...meaningChecks(account, answer),
    ...transcription,
    ...standing,
  ];
}

/** Called only if no service runs on the data directory, since it would occupy the port. */
async function portCheck({ host, port }: { readonly host: string; readonly port: number }): Promise<Check> {
  const name = 'Port';
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen({ host, port, exclusive: true }, resolve);
    });
    return fine(name, `${host}:${port} is free`);
  } catch (error) {
    return failed(name, `${host}:${port} is not available: ${systemReason(error)}`);
  } finally {
    probe.close();
  }
}

/**
 * Verifies segments against their checksums, and the store and index of every list: through the service if it runs,
 * otherwise by opening the data directory. Indexes of another release are left as they are, so that it can be returned
 * to: opening them would rebuild them.
 */
export async function recordsCheck(context: CommandContext): Promise<Check[]> {
  const account = context.config.account.name;
  const folder = resolve(context.config.data.dir);
  const isServed = await runsOn(context);
  const missing = isServed ? [] : await missingSegmentsChecks(context);
  const sums = await segmentSumsCheck(folder);
  const outdated = isServed ? [] : await outdatedIndexes(folder);
  if (outdated.length > 0) return [sums, ...missing, notComparedCheck(outdated)];
  return context.withData(async (client) => {
    const answer = await readListing(client, 'list.list', { account });
    const lists = membersOf<ListResource>(answer, 'lists');
    const checks: Check[] = [...unavailableListChecks(account, answer)];
    checks.push(...(await recordsChecks(client, account, lists)));
    return [sums, ...missing, ...checksInShort(checks), await mediaCheck(client, account)];
  });
}

/** Returns checks in the order of the lists. While a thread reads one list, the next is opened. */
async function recordsChecks(client: ServiceClient, account: string, lists: readonly ListResource[]): Promise<Check[]> {
  const checks: Check[] = [];
  const left = lists.entries();
  const work = async () => {
    for (const [place, { name: list }] of left) {
      const name = `Records of ${list}`;
      const problems = await problemsOf(client, account, list);
      checks[place] = problems.length === 0 ? fine(name, 'store and index agree') : failed(name, problems.join('; '));
    }
  };
  await Promise.all(Array.from({ length: LISTS_AT_A_TIME }, work));
  return checks;
}

/** True if a service runs on the data directory. */
async function runsOn({ config, load }: CommandContext): Promise<boolean> {
  if (!existsSync(config.data.dir)) return false;
  const client = await connectControlSocket(config, load);
  await client?.close();
  return client !== undefined;
}

/**
 * Looks for missing segments before lists are opened, since opening such a list rebuilds its index. A running service
 * has its segments open, and reports missing ones itself.
 */
async function missingSegmentsChecks({ config, load }: CommandContext): Promise<Check[]> {
  if (!existsSync(config.data.dir)) return [];
  const { findMissingSegments } = await load();
  return [missingSegmentsCheck(await findMissingSegments({ ...config, log: { ...config.log, level: 'silent' } }))];
}

/** Verifies every file of the built-in store against its checksum. */
async function mediaCheck(client: ServiceClient, account: string): Promise<Check> {
  const name = 'Media store';
  const answer = await client.call('media-store.check', { params: { account, store: 'default' } });
  const problems = membersOf<string>(answer, 'problems');
  if (problems.length === 0) return fine(name, 'all files match their checksums');
  const told = problems.slice(0, PROBLEMS_TOLD_MAX).join('; ');
  // Contents without a file may come from a backup made during uploads, or a restored catalogue; they only take space.
  const isRoomAlone = problems.length === 1 && (answer as { unnamed_contents: number }).unnamed_contents > 0;
  return isRoomAlone ? notice(name, told) : failed(name, told);
}

/**
 * Returns the first problems of a list with what to do; also if the list cannot be checked, for instance while its
 * index is rebuilt.
 */
async function problemsOf(client: ServiceClient, account: string, list: string): Promise<readonly string[]> {
  try {
    const problems = membersOf<string>(await client.call('list.check', { params: { account, list } }), 'problems');
    if (problems.length === 0) return [];
    return [...problems.slice(0, PROBLEMS_TOLD_MAX), `rebuild the index with gannet reindex --list ${list}`];
  } catch (error) {
    if (error instanceof ProblemError) return [describeProblem(error.problem)];
    throw error;
  }
}
