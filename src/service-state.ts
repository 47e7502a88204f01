/** Composes the state of the service (`service.state`) from its parts and measurements. */
import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { Gauge } from 'prom-client';
import { BACKUPS } from './backup/index.js';
import type { Catalog } from './catalog/index.js';
import type { ListIndexes } from './index/index.js';
import type { OpenFeatures, Services, ServiceState, Trouble } from './operations/index.js';
import type { OpenParts } from './open-parts.js';
import {
  DiskLook,
  packageVersion,
  residentOwnBytes,
  RunningProgram,
  systemClock,
  type Config,
  type Metrics,
  type Replaced,
} from './platform/index.js';
import { loggedWorker } from './platform/hosts/index.js';

const SECOND_MS = 1000;
/**
 * Lists checked per turn of the event loop. The state of a list at rest is stored as text, and parsing ten thousand of
 * them at once would block the main thread.
 */
const LISTS_A_TURN = 250;
/** Share of its maximum at which a queue is reported. */
const NEAR_FULL_SHARE = 0.8;
/** Error codes of lists that are refused for a while and recover by themselves. */
const PASSING: ReadonlySet<string> = new Set(['not-ready', 'shutting-down', 'list-not-found']);

export interface StateParts {
  readonly config: Pick<Config, 'search' | 'ingest'>;
  readonly dataDir: string;
  readonly budgetBytes: number;
  readonly catalog: Catalog;
  readonly indexes: ListIndexes;
  readonly features: OpenFeatures;
  readonly metrics: Metrics;
  readonly log: Services['log'];
}

type TroubleParts = Pick<StateParts, 'catalog' | 'features'> & {
  readonly indexes: Pick<ListIndexes, 'refusal' | 'outline'>;
};

/** Returns the functions that answer the state and the metrics, and registers the gauges. */
export function stateOf(parts: StateParts, opened: Pick<OpenParts, 'opened'>): Pick<Services, 'state' | 'metrics'> {
  const { metrics } = parts;
  const disk = new DiskLook(parts.dataDir, loggedWorker('disk', parts));
  opened.opened('look at the disk', () => disk.close());
  const program = new RunningProgram();
  measure(parts, disk, program);
  const state = async (): Promise<ServiceState> => {
    const [use, found, waiting, replaced] = await Promise.all([
      disk.look(),
      troublesOf(parts),
      waitingOf(parts),
      program.look(),
    ]);
    const { catalog, features } = parts;
    const all = catalog.accounts().reduce((sum, { name }) => sum + catalog.lists(name).length, 0);
    return {
      release: packageVersion(),
      node: process.versions.node,
      process_id: process.pid,
      started_utc: new Date(systemClock.nowMs() - process.uptime() * SECOND_MS).toISOString(),
      data_dir: parts.dataDir,
      disk: use === undefined ? null : { bytes: use.bytes, free_bytes: use.freeBytes, used: use.entries ?? [] },
      memory: { own_bytes: residentOwnBytes() ?? null, budget_bytes: parts.budgetBytes },
      lists: { all, open: await sumOf(metrics.listsOpen), rebuilding: await sumOf(metrics.listsRebuilding) },
      waiting,
      backup: features.part(BACKUPS).state(),
      troubles: [...replacedProgram(replaced), ...fullQueues(waiting), ...found],
    };
  };
  return { state, metrics: () => metrics.text() };
}

/** Returns the troubles of the lists known to the index, and those that the features report. */
export async function troublesOf({ catalog, indexes, features }: TroubleParts): Promise<readonly Trouble[]> {
  const found: (Trouble | undefined)[] = [];
  for (const { name: account } of catalog.accounts()) {
    for (const [at, list] of catalog.lists(account).entries()) {
      if (at % LISTS_A_TURN === LISTS_A_TURN - 1) await turnOfOthers();
      found.push(troubleOfList(indexes, account, list));
    }
  }
  return [...found.filter((trouble) => trouble !== undefined), ...(await features.troubles())];
}

function troubleOfList(
  indexes: TroubleParts['indexes'],
  account: string,
  { id, name }: { readonly id: string; readonly name: string },
): Trouble | undefined {
  const trouble = { account, name, since_utc: null };
  const refusal = indexes.refusal(id);
  if (refusal !== undefined && !PASSING.has(refusal.code)) return { ...trouble, kind: 'list', detail: refusal.detail };
  const meaning = indexes.outline(id)?.meaning();
  const detail = meaning === undefined ? undefined : troubleOfMeaning(meaning);
  return detail === undefined ? undefined : { ...trouble, kind: 'meaning', detail };
}

/**
 * Reasons that lie in the record, so that nothing is wrong with the model or the service, and nobody has to do anything:
 * some record of nearly every list has no word in common with another one.
 */
const OF_RECORDS: ReadonlySet<string> = new Set(['no-text', 'unknown-words']);

/** Returns why records that should have vectors have none; undefined if all have some. */
export function troubleOfMeaning(meaning: MeaningTrouble): string | undefined {
  const failed = failedByModel(meaning);
  if (meaning.state === 'failing') return meaningDetail({ ...meaning, failed });
  if (failed === 0) return undefined;
  const [mostFrequent] = Object.entries(meaning.reasons ?? {})
    .filter(([reason]) => !OF_RECORDS.has(reason))
    .sort(([, left], [, right]) => right - left);
  // An outline of an earlier release has no reasons.
  return meaningDetail({ ...meaning, failed, error: mostFrequent?.[0] ?? meaning.error });
}

/** Returns the number of records that have no vector for another reason than one that lies in them. */
function failedByModel({ failed, reasons = {} }: Pick<MeaningTrouble, 'failed' | 'reasons'>): number {
  const ofRecords = Object.entries(reasons).reduce(
    (sum, [reason, count]) => sum + (OF_RECORDS.has(reason) ? count : 0),
    0,
  );
  return Math.max(0, failed - ofRecords);
}

/** Why records have no vectors, by the codes of the list's `meaning.error`. */
const WITHOUT_VECTORS: Readonly<Record<string, string>> = {
  'no-text': 'there is no text in the fields that the model reads',
  'unknown-words': 'the built-in model knows none of the words; searches by words still find such records',
  'too-long': 'the text is too long for the model',
  refused: 'the model refuses the text',
  'wrong-dimensions': 'the vectors have another number of dimensions than those of the list',
  'no-direction': 'the vectors have only zeros',
  error: 'the service failed; its log says how',
};

interface MeaningTrouble {
  readonly state: string;
  readonly failed: number;
  readonly pending: number;
  readonly error?: string | undefined;
  readonly reasons?: Readonly<Record<string, number>> | undefined;
}

export function meaningDetail({ state, failed, pending, error = state }: MeaningTrouble): string {
  const without = failed === 1 ? '1 record has no vector' : `${failed} records have no vectors`;
  const waiting = pending === 0 ? '' : `, ${pending} more ${pending === 1 ? 'waits' : 'wait'} for one`;
  return `${without}${waiting}: ${WITHOUT_VECTORS[error] ?? error}`;
}

async function waitingOf({ metrics, config }: StateParts): Promise<ServiceState['waiting']> {
  const pools = (await metrics.poolWaiting.get()).values;
  const most: Readonly<Record<string, number>> = { search: config.search.queue_max, ingest: config.ingest.queue_max };
  return [
    ...pools.map(({ labels: { pool }, value }) => ({
      name: String(pool),
      count: Math.max(0, value),
      max: most[String(pool)] ?? null,
    })),
    { name: 'deliveries', count: await sumOf(metrics.webhookQueued), max: null },
  ];
}

/** Reports a program that was replaced on disk: modules that are loaded later may not match the ones that run. */
function replacedProgram(replaced: Replaced | undefined): readonly Trouble[] {
  if (replaced === undefined) return [];
  const parts = replaced.parts.join(', ');
  const detail = `the service still is release ${packageVersion()} as it was started, and another program lies in its place (${parts}): restart the service`;
  return [{ kind: 'program', account: '', name: 'gannet', detail, since_utc: replaced.since?.toISOString() ?? null }];
}

/** Reports queues that are nearly full, before requests are refused. */
function fullQueues(waiting: ServiceState['waiting']): readonly Trouble[] {
  return waiting.flatMap(({ name, count, max }) => {
    if (max === null || count < NEAR_FULL_SHARE * max) return [];
    const share = Math.round((100 * count) / max);
    const detail = `${count} tasks wait for a thread, ${share} % of ${name}.queue_max (${max}): from there on requests of accounts that have more than their part are refused with 503`;
    return [{ kind: 'queue', account: '', name, detail, since_utc: null }];
  });
}

async function sumOf(gauge: { get(): Promise<{ readonly values: readonly { readonly value: number }[] }> }) {
  return (await gauge.get()).values.reduce((sum, { value }) => sum + value, 0);
}

/** Registers the gauges that alerts need in addition to what other parts measure. */
function measure(parts: StateParts, disk: DiskLook, program: RunningProgram): void {
  const { metrics, catalog, indexes } = parts;
  const registers = [metrics.registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  new Gauge({
    name: 'gannet_build_info',
    help: '1: the release that runs',
    labelNames: ['release', 'node'],
    registers,
  }).set({ release: packageVersion(), node: process.versions.node }, 1);
  const free = gauge('gannet_disk_free_bytes', 'Of the file system of the data directory, for other users than root');
  const size = gauge('gannet_disk_size_bytes', 'Of the file system of the data directory');
  const pending = gauge('gannet_records_embedding_pending', 'Records of open lists that wait for vectors');
  const failed = gauge(
    'gannet_records_embedding_failed',
    'Records of open lists that could not be embedded, except those without text and those without a word that the built-in model knows',
  );
  const replaced = gauge('gannet_program_replaced', '1: another program lies in the place of the one that runs');
  void disk.space();
  metrics.beforeReading(() => {
    // Reports the result of the previous look, so that a disk that does not respond keeps nobody waiting.
    free.set(disk.last?.freeBytes ?? Number.NaN);
    size.set(disk.last?.bytes ?? Number.NaN);
    void disk.space();
    replaced.set(program.last === undefined ? 0 : 1);
    void program.look();
    const meanings = catalog
      .accounts()
      .flatMap(({ name }) => catalog.lists(name).map(({ id }) => indexes.glance(id)?.meaning()));
    pending.set(meanings.reduce((sum, meaning) => sum + (meaning?.pending ?? 0), 0));
    failed.set(meanings.reduce((sum, meaning) => sum + (meaning === undefined ? 0 : failedByModel(meaning)), 0));
  });
}
