/**
 * Imports files into lists: a list is compared with its file and made the same. Each list has one import at a time, and
 * the number of imports is limited. If another import of a list is requested during one, it is done afterwards. Used on
 * the main thread only.
 */
import type { Logger } from 'pino';
import type { FieldDefinition } from '../catalog/index.js';
import type { ListIndex, SyncOutcome, SyncSession } from '../index/index.js';
import type { MediaStores, OpenFile } from '../media/index.js';
import { changedDefinition } from '../operations/index.js';
import { ServiceError, type Clock, type GiveWay } from '../platform/index.js';
import type { Timers } from '../platform/work/index.js';
import { FairQueue } from '../workers/index.js';
import type { FeedMetrics } from './feed-metrics.js';
import type { FieldDescriptions } from './file/sync-file.js';
import { toldFailure } from './known-failure.js';
import { importedFile, type ImportedFile } from './imported-file.js';
import type { SourceStore } from './source-store.js';
import type { ImportRun, SourceRow } from './types.js';

const ERRORS_KEPT_MAX = 20;
const MESSAGE_CHARACTERS_MAX = 1000;
const NEW_VERSION_MS_MAX = 60_000;
const NEW_VERSION_CHECK_MS = 20;
/**
 * Codes of errors that pass by themselves, such as when the list is being rebuilt or others are importing into it. The
 * import is tried again without being asked.
 */
const PASSING: ReadonlySet<string> = new Set(['not-ready', 'overloaded', 'shutting-down']);
const RETRY_MS = 5000;
/**
 * Number of bytes of a file after which searches are given way to. However busy searches are, 0.8 MiB per second are
 * imported.
 */
const PIECE_BYTES_MAX = 65_536;
/** Maximum number of bytes in a commit while there are searches, so that none of them waits for a long commit. */
const COMMIT_BYTES_MAX_BESIDE_SEARCHES = 262_144;

export interface ListImporterOptions {
  readonly sources: SourceStore;
  readonly media: MediaStores;
  /** Resolves with the index of the list, opened. */
  readonly indexOf: (row: SourceRow) => Promise<ListIndex>;
  /** Returns the name of the source that is kept with its records in the list. */
  readonly labelOf: (row: SourceRow) => string;
  readonly parallelMax: number;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: FeedMetrics;
  /** Waited for before each piece of a file (docs/decisions/0195). */
  readonly giveWay: Pick<GiveWay, 'wait'>;
}

/** What one check of a list and its file is to do. */
interface Look {
  /** True to import in any case. */
  readonly isForced: boolean;
  /**
   * True at the start of the service. A file that was already applied needs nothing then; the list is not looked at, so
   * that it need not be opened.
   */
  readonly isStart: boolean;
}

const USUAL: Look = { isForced: false, isStart: false };

interface Running {
  isAskedAgain: boolean;
  look: Look;
  isCancelled: boolean;
  readonly done: Promise<void>;
}

interface Waiting {
  readonly account: string;
  readonly begin: () => void;
}

export class ListImporter {
  private readonly running = new Map<string, Running>();
  /**
   * By list id, the state of the list after the last import. If a list has another state, it has been written to since.
   */
  private readonly states = new Map<string, number>();
  private slotsTaken = 0;
  /** Imports that wait for a slot. A slot that becomes free is handed to one of them, and accounts take turns. */
  private readonly waiting = new FairQueue<Waiting>(({ account }) => account);
  /** Each ends the wait for another attempt. */
  private readonly retries = new Set<() => void>();
  private isStopped = false;

  constructor(private readonly options: ListImporterOptions) {}

  isRunning(listId: string): boolean {
    return this.running.has(listId);
  }

  /**
   * Makes the list the same as its file if either has changed since the last import. Resolves when the import has
   * ended, whether it succeeded or not. Never rejects.
   */
  run(listId: string, wanted: Partial<Look> = {}): Promise<void> {
    if (this.isStopped) return Promise.resolve();
    const before = this.running.get(listId);
    if (before !== undefined) {
      before.isAskedAgain = true;
      const { isForced, isStart } = before.look;
      before.look = { isForced: isForced || wanted.isForced === true, isStart: isStart && wanted.isStart === true };
      return before.done;
    }
    const look = { ...USUAL, ...wanted };
    const running: Running = { isAskedAgain: false, look, isCancelled: false, done: Promise.resolve() };
    this.running.set(listId, running);
    const done = this.turns(listId, running).finally(() => this.running.delete(listId));
    Object.assign(running, { done });
    return done;
  }

  /** Ends the import of a list that is under way. This removes nothing from the list. */
  async cancel(listId: string): Promise<void> {
    const running = this.running.get(listId);
    if (running === undefined) return;
    running.isCancelled = true;
    await running.done;
  }

  /** As `cancel`, for a list that no longer imports a file or is deleted: nothing is kept of it. */
  async forget(listId: string): Promise<void> {
    await this.cancel(listId);
    this.states.delete(listId);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    for (const cancel of this.retries) cancel();
    await Promise.all([...this.running.keys()].map((listId) => this.cancel(listId)));
  }

  private async turns(listId: string, running: Running): Promise<void> {
    await this.slot(this.options.sources.of(listId)?.account ?? '');
    try {
      do {
        const { look } = running;
        running.isAskedAgain = false;
        running.look = USUAL;
        await this.turn(listId, look, running);
      } while (running.isAskedAgain && !running.isCancelled);
    } finally {
      const [next] = this.waiting.take(1);
      if (next === undefined) this.slotsTaken -= 1;
      else next.begin();
    }
  }

  private async slot(account: string): Promise<void> {
    if (this.slotsTaken < this.options.parallelMax) this.slotsTaken += 1;
    else await new Promise<void>((begin) => this.waiting.push({ account, begin }));
  }

  private async turn(listId: string, look: Look, running: Running): Promise<void> {
    const row = this.options.sources.of(listId);
    if (row === undefined || running.isCancelled) return;
    const { log, metrics, clock, sources } = this.options;
    const { account, list } = row;
    try {
      const run = await this.imported(row, look, running);
      if (run === undefined) return;
      metrics.imported('imported');
      const { added, changed, removed, failed, took_ms } = run.run;
      log.info({ account, list, added, changed, removed, failed, took_ms }, 'Updated a list from its source');
      const last = { last_run: run.run, last_imported: clock.nowIso(), error: null, applied_etag: run.etag };
      await sources.change(listId, () => last);
    } catch (error) {
      if (running.isCancelled) return;
      if (error instanceof ServiceError && PASSING.has(error.code)) {
        this.retryLater(listId, look);
        return;
      }
      const message = this.messageOf(error, row);
      metrics.imported('failed');
      log.warn({ account, list, reason: message }, 'Could not update a list from its source');
      await sources
        .change(listId, () => ({ error: { message: message.slice(0, MESSAGE_CHARACTERS_MAX), at: clock.nowIso() } }))
        .catch((failure: unknown) => log.error({ err: failure }, 'Could not save the failure of an import'));
    }
  }

  private retryLater(listId: string, look: Look): void {
    if (this.isStopped) return;
    const cancel = this.options.timers.after(RETRY_MS, () => {
      this.retries.delete(cancel);
      void this.run(listId, look);
    });
    this.retries.add(cancel);
  }

  /** Resolves with undefined if nothing has changed, or if the feed has no file yet. */
  private async imported(
    row: SourceRow,
    { isForced, isStart }: Look,
    running: Running,
  ): Promise<{ readonly run: ImportRun; readonly etag: string } | undefined> {
    const { media, indexOf } = this.options;
    const store = media.open(row.account, row.media_store);
    const known = await store.stat(row.path);
    if (known === undefined) {
      if (row.feed !== null) return undefined;
      throw new ServiceError('not-found', `There is no file '${row.path}' in the media store '${row.media_store}'.`);
    }
    const isApplied = !isForced && row.error === null && known.etag === row.applied_etag;
    if (isApplied && isStart) return undefined;
    const index = await indexOf(row);
    if (isApplied && this.states.get(row.list_id) === index.sequence(index.currentVersion)) return undefined;
    const opened = await store.open(row.path);
    if (opened === undefined) return undefined;
    const startedMs = performance.now();
    const outcome = await this.applied(row, index, opened, running);
    this.states.set(row.list_id, index.sequence(index.currentVersion) ?? -1);
    return { run: runOf(outcome, performance.now() - startedMs), etag: opened.file.etag };
  }

  private async applied(row: SourceRow, index: ListIndex, opened: OpenFile, running: Running): Promise<SyncOutcome> {
    let file: ImportedFile | undefined;
    try {
      file = await importedFile(row.path, opened.pieces());
      if (file.fields !== undefined) await takeOverFields(index, file.fields, running);
      const session = index.startSync(this.options.labelOf(row), file.format);
      return await this.fed(session, file, running);
    } finally {
      await opened.close();
    }
  }

  /** Feeds the file to the session. If this is interrupted, nothing is removed from the list. */
  private async fed(session: SyncSession, { pieces }: ImportedFile, running: Running): Promise<SyncOutcome> {
    try {
      for await (const piece of pieces) {
        for (let begin = 0; begin < piece.length; begin += PIECE_BYTES_MAX) {
          const areBesideSearches = await this.options.giveWay.wait();
          if (running.isCancelled) throw new ServiceError('conflict', 'The import was stopped.');
          const part = piece.subarray(begin, begin + PIECE_BYTES_MAX);
          await session.push(part, areBesideSearches ? COMMIT_BYTES_MAX_BESIDE_SEARCHES : undefined);
        }
      }
    } catch (error) {
      session.abort();
      throw error;
    }
    return session.end();
  }

  private messageOf(error: unknown, { account, list }: SourceRow): string {
    const { log } = this.options;
    const told = toldFailure(error, log, { account, list });
    if (told !== undefined) return told;
    log.error({ err: error, account, list }, 'An import into a list ended unexpectedly');
    return 'The import was cut short by a fault of the service, which is logged.';
  }
}

/**
 * Gives a list that has no fields yet those that the file describes, and waits for the version that has them. For a
 * list that is being deleted this version never comes. A file that describes none, as that of an interface without
 * records, leaves this to a later one. The list keeps its language, which decides the stems of its words.
 *
 * Rejects with `invalid-parameter` for fields that a list cannot have.
 */
async function takeOverFields(index: ListIndex, fields: FieldDescriptions, running: Running): Promise<void> {
  const current = index.versions().find(({ version }) => version === index.currentVersion);
  if (current === undefined || hasFields(current.definition)) return;
  const definition = changedDefinition(current.definition, {
    ...fields,
    resources: [...fields.resources],
  });
  if (!hasFields(definition)) return;
  const version = await index.changeDefinition(definition);
  const endMs = performance.now() + NEW_VERSION_MS_MAX;
  while (index.currentVersion < version && performance.now() < endMs && !running.isCancelled)
    await new Promise((resolve) => setTimeout(resolve, NEW_VERSION_CHECK_MS));
  if (running.isCancelled) throw new ServiceError('conflict', 'The import was stopped.');
}

function hasFields({ searchable_fields, facets, resources, location_field }: FieldDefinition): boolean {
  return searchable_fields.length + facets.length + resources.length > 0 || location_field !== null;
}

function runOf({ created, updated, removed, unchanged, failed, errors }: SyncOutcome, tookMs: number): ImportRun {
  return {
    added: created,
    changed: updated,
    removed,
    unchanged,
    failed,
    errors: errors.slice(0, ERRORS_KEPT_MAX),
    took_ms: Math.round(tookMs),
  };
}
