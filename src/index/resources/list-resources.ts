/**
 * The files that the records of one open list link to: what is still to be read, and by whom. Everything is kept in the
 * list's store; a list without a field for documents has only this object. Main thread only.
 */
import { basename } from 'node:path';
import { isMediaUrl } from '../../fields/index.js';
import type { Job } from '../../platform/index.js';
import {
  ASKED_WAIT_MS_MAX,
  RetrySchedule,
  systemTimers,
  WorkRunner,
  type Settlement,
} from '../../platform/work/index.js';
import {
  attachLane,
  attachQueue,
  extractStore,
  hasFiles,
  keyOfFile,
  othersOf,
  CHECK_JITTER,
  READ_KINDS,
  READING_LANES,
  TRANSCRIPTS_LANE,
  readingQueue,
  readKindsOf,
  type AttachTypes,
  type ExtractStore,
  type ExtractFigures,
  type FileReader,
  type FileToRead,
  type PageRange,
  type PictureModel,
  type ReadingTypes,
} from '../../extracts/index.js';
import { RecordStore } from '../../records/index.js';
import { buildingVersionOf, currentVersionOf } from '../../store/index.js';
import type { LinkedText, ListFiles, ResourcesStatus, SearchSettings } from '../contract/types.js';
import type { BackgroundHost } from '../versions/background-host.js';
import { BackgroundRounds } from '../versions/background-rounds.js';
import { attachWorker } from './attach-worker.js';
import { ListFrames } from './list-frames.js';
import { ListTranscripts } from './list-transcripts.js';
import { DAMAGED_PAGES } from '../parts/readable-pages.js';
import { readingWorker } from './reading-worker.js';

/** Number of records that are searched for links in one turn of the list's queue. */
const SCAN_RECORDS_MAX = 5000;
/** Number of URLs that one task looks up. */
const CHANGED_MAX = 1000;
const JITTER_PERCENT = 20;

export interface ListResourcesOptions {
  readonly host: BackgroundHost;
  readonly store: RecordStore;
  readonly settings: () => SearchSettings;
  /** Undefined if nothing reads files in this process, or not yet. */
  readonly reader: () => FileReader | undefined;
}

export class ListResources implements ListFiles {
  private runner: WorkRunner<ReadingTypes> | undefined;
  private transcribing: WorkRunner<ReadingTypes> | undefined;
  private attaching: WorkRunner<AttachTypes> | undefined;
  private readonly scanning: BackgroundRounds;
  private readonly aligning: BackgroundRounds;
  private watched: Promise<void> | undefined;
  private syncing: Promise<void> | undefined;
  private job: Job | undefined;
  /** Number of records whose pages may be on disk, and out of the queue, before searches find them. */
  private beingPublished = 0;
  private stopped = false;
  private readonly frames: ListFrames;
  private readonly transcripts: ListTranscripts;

  constructor(private readonly options: ListResourcesOptions) {
    this.frames = new ListFrames(options);
    this.transcripts = new ListTranscripts(options);
    this.scanning = new BackgroundRounds({
      host: options.host,
      next: () => this.nextScan(),
      complaint: 'Links to files could not be looked for; they are later',
      ended: () => this.committed(),
    });
    this.aligning = new BackgroundRounds({
      host: options.host,
      next: () => (this.isBehind ? () => this.sync() : undefined),
      complaint: 'What a list has of its files could not be brought in line with its settings; it is later',
    });
  }

  /**
   * Resolves when what is kept of pictures and recordings matches the list's settings, or cannot be changed now; then
   * it is retried in the background.
   */
  async aligned(): Promise<void> {
    await this.sync().catch(() => {
      this.aligning.look();
    });
  }

  private sync(): Promise<void> {
    this.syncing ??= this.syncAll().finally(() => {
      this.syncing = undefined;
    });
    return this.syncing;
  }

  private async syncAll(): Promise<void> {
    const { host } = this.options;
    for (let model = this.missingModel(); model !== undefined && !this.stopped; model = this.missingModel()) {
      const task = { kind: 'attach-pictures', listPath: host.listPath, model } as const;
      await host.exclusive(async () => {
        host.reopen((await host.runCommit(task)).state);
      });
    }
    for (;;) {
      const version = this.frames.otherVersion;
      if (version === undefined || this.stopped) break;
      await this.frames.readAllBy(version, () => this.stopped);
      this.forgive();
    }
    for (;;) {
      const version = this.transcripts.otherVersion;
      if (version === undefined || this.stopped) break;
      await this.transcripts.writeBy(version, () => this.stopped);
      this.forgive();
    }
    this.scanning.look();
  }

  private get isBehind(): boolean {
    if (this.missingModel() !== undefined || this.frames.otherVersion !== undefined) return true;
    return this.mayLink && this.transcripts.otherVersion !== undefined;
  }

  /**
   * Returns the picture model to attach next, or null to detach the present one; undefined if nothing has to change, or
   * it is not known now.
   */
  private missingModel(): PictureModel | null | undefined {
    const { host, reader, settings } = this.options;
    const { account, image_model: name = null } = settings();
    const { pictures } = host.state();
    if (name === null) return pictures === undefined ? undefined : null;
    const wanted = reader()?.pictureModel(account, name);
    if (wanted === undefined || pictures?.modelVersion === wanted.modelVersion) return undefined;
    return pictures === undefined ? wanted : null;
  }

  /** Call it after each commit of the list, and when there is a reader. */
  committed(): void {
    if (!this.stopped && this.syncing === undefined) this.aligning.look();
    if (this.stopped || this.options.reader() === undefined || !this.mayLink) return;
    const { store } = this.options;
    // Earlier reads do not see the commit.
    store.refresh();
    const extracts = extractStore(store);
    if (!extracts.exists) {
      this.scanning.look();
      return;
    }
    this.start();
    for (const lane of READING_LANES) this.runner?.wake(lane);
    this.transcribing?.wake(TRANSCRIPTS_LANE);
    this.attach();
    this.tellProgress();
  }

  status(): ResourcesStatus | undefined {
    const { store } = this.options;
    if (this.stopped || !this.mayLink) return undefined;
    store.refresh();
    const extracts = extractStore(store);
    const { status: frames } = this.frames;
    return { ...this.figures(), errors: extracts.errors(), ...(frames === undefined ? {} : { frames }) };
  }

  async refresh(failedOnly: boolean): Promise<number> {
    const { host } = this.options;
    let queued = 0;
    for (let after: string | undefined = ''; after !== undefined && !this.stopped;) {
      const behind: string = after;
      const { listPath, clock } = host;
      const task = { kind: 'refresh-resources', listPath, nowMs: clock.nowMs(), failedOnly, after: behind } as const;
      const some = await host.exclusive(() => host.runCommit(task));
      queued += some.queued;
      after = some.after;
      this.forgive();
    }
    return queued;
  }

  changed(urls: readonly string[]): Promise<void> {
    return this.lookAt(urls, { isTold: true });
  }

  private async lookAt(urls: readonly string[], { isTold }: { readonly isTold: boolean }): Promise<void> {
    const { host, store } = this.options;
    if (this.stopped || !this.mayLink) return;
    store.refresh();
    const extracts = extractStore(store);
    const known = urls.filter((url) => READ_KINDS.some((kind) => extracts.outline({ kind, url }) !== undefined));
    for (let begin = 0; begin < known.length; begin += CHANGED_MAX) {
      const { listPath, clock } = host;
      const some = known.slice(begin, begin + CHANGED_MAX);
      const task = { kind: 'look-at-files', listPath, nowMs: clock.nowMs(), isTold, urls: some } as const;
      await host.exclusive(() => host.runCommit(task));
    }
    if (known.length > 0) this.forgive();
  }

  linksBelow(prefix: string): boolean {
    return this.known()?.hasBelow(prefix) === true;
  }

  linksTo(file: FileToRead): boolean {
    const { currentVersion } = this.options.host.state();
    const extracts = this.known();
    return extracts?.hasLinks(currentVersion) === true && extracts.isLinked(keyOfFile(file), [currentVersion]);
  }

  /** Undefined if no record can link to a file, or none ever did. */
  private known(): ExtractStore | undefined {
    const { store } = this.options;
    if (this.stopped || !this.mayLink) return undefined;
    store.refresh();
    const extracts = extractStore(store);
    return extracts.exists ? extracts : undefined;
  }

  async texts(name: string, pages: PageRange): Promise<readonly LinkedText[]> {
    const { host } = this.options;
    const texts = await host.run({ kind: 'linked-texts', listPath: host.listPath, name, pages });
    const damaged = texts.filter((text) => text.pages.some(({ isDamaged }) => isDamaged === true));
    if (damaged.length > 0) await this.readAgain(damaged.map(({ url }) => url));
    return texts;
  }

  /** Never rejects: the caller gets the texts in any case. */
  private async readAgain(urls: readonly string[]): Promise<void> {
    const { host } = this.options;
    const { listPath, clock, log } = host;
    try {
      const task = { kind: 'read-again', listPath, nowMs: clock.nowMs(), urls } as const;
      const { queued } = await host.exclusive(() => host.runCommit(task));
      this.forgive();
      // Told once, however often the texts are asked for until then.
      if (queued > 0) log.warn({ list: listPath, damaged: urls }, DAMAGED_PAGES);
    } catch (error) {
      if (!this.stopped) log.warn({ list: listPath, err: error }, 'Could not queue damaged documents to be read again');
    }
  }

  /** Time until which nothing has to be done: 0 if something is in progress, Infinity if nothing is scheduled. */
  get restsUntilMs(): number {
    if (this.syncing !== undefined) return 0;
    const parts = [this.scanning, this.aligning, this.runner, this.transcribing, this.attaching];
    return Math.min(...parts.map((part) => part?.restsUntilMs ?? Infinity));
  }

  /** False if records may link to files, because these are looked at again and again. */
  get isComplete(): boolean {
    return !this.mayLink;
  }

  /** Aborts what is in progress; it stays in the queue on disk. */
  async stop(): Promise<void> {
    this.stopped = true;
    const rounds = [this.scanning.stop(), this.aligning.stop()];
    this.job?.stop();
    await Promise.all([this.runner?.close(0), this.transcribing?.close(0)]);
    await this.attaching?.close(0);
    await Promise.allSettled([...rounds, this.watched, this.syncing]);
  }

  private get mayLink(): boolean {
    const state = this.options.host.state();
    return state.versions.some(({ definition }) => hasFiles(definition, readKindsOf(state)));
  }

  /** Resumes lanes that were paused by failing hosts, because somebody wants the files now. */
  private forgive(): void {
    for (const lane of READING_LANES) this.runner?.forgive(lane);
    this.transcribing?.forgive(TRANSCRIPTS_LANE);
    this.committed();
  }

  private start(): void {
    const reader = this.options.reader();
    if (this.runner !== undefined || reader === undefined) return;
    const { host, store } = this.options;
    this.runner = this.readingRunner(reader, reader.retryMs, reader.parallelMax);
    const { retryMs, parallelMax } = reader.transcription ?? reader;
    this.transcribing = this.readingRunner(reader, retryMs, parallelMax);
    const worker = (lane: string) =>
      readingWorker({
        account: () => this.options.settings().account,
        pictureModel: () => host.state().pictures?.model,
        lane,
        reader,
        known: (file: FileToRead) => extractStore(store).outline(file)?.file,
        awaitedAs: ({ kind, url }, hash) =>
          othersOf(kind, hash, (other) => extractStore(store).outline({ kind: other, url })),
        transcribing: (item) => this.transcripts.of(item),
      });
    for (const lane of READING_LANES) this.runner.add(lane, worker(lane));
    this.transcribing.add(TRANSCRIPTS_LANE, worker(TRANSCRIPTS_LANE));
    this.scanning.look();
    this.watched = this.lookAtMedia().catch((error: unknown) => {
      if (!this.stopped) host.log.warn({ list: host.listPath, err: error }, 'Will check files of media stores later');
    });
  }

  private readingRunner(reader: FileReader, laterMs: readonly number[], parallelMax: number): WorkRunner<ReadingTypes> {
    const { host, store } = this.options;
    return new WorkRunner({
      queue: readingQueue(store),
      timers: systemTimers,
      schedule: new RetrySchedule({ soonMs: [], laterMs, jitterPercent: JITTER_PERCENT }),
      waitMsMax: Math.max(ASKED_WAIT_MS_MAX, reader.checkMs * (1 + CHECK_JITTER)),
      perReceiverMax: parallelMax,
      totalMax: parallelMax,
      writing: 'each',
      write: (settlements) => this.write(settlements, reader),
      onWriteFailure: (error) => {
        host.log.warn({ list: host.listPath, err: error }, 'Could not write the text of files; will retry');
      },
    });
  }

  /**
   * Looks at files of media stores, so that changes that nobody reported are found at once; that needs no request to a
   * host.
   */
  private async lookAtMedia(): Promise<void> {
    const { store } = this.options;
    for (let after: string | undefined = ''; after !== undefined && !this.stopped;) {
      const rows = extractStore(store).rowsBehind(after, CHANGED_MAX);
      const urls = rows.filter(({ row: { url, state } }) => state !== 'pending' && isMediaUrl(url));
      // Few of them have changed, so they do not count as pending.
      await this.lookAt(
        urls.map(({ row }) => row.url),
        { isTold: false },
      );
      after = rows.length < CHANGED_MAX ? undefined : rows.at(-1)?.key;
    }
  }

  private async write(settlements: readonly Settlement<ReadingTypes>[], { checkMs }: FileReader): Promise<void> {
    const { host } = this.options;
    const { listPath, clock } = host;
    await host.exclusive(() =>
      host.runCommit({ kind: 'commit-reading', listPath, nowMs: clock.nowMs(), checkMs, settlements }),
    );
    this.committed();
  }

  // ---- pages into the index

  /** Arranges one lane for each version that is written. */
  private attach(): void {
    const { host, store } = this.options;
    const state = host.state();
    const building = buildingVersionOf(state)?.version;
    const versions = building === undefined ? [state.currentVersion] : [state.currentVersion, building];
    const wanted = versions.map(attachLane);
    this.attaching ??= new WorkRunner({
      queue: attachQueue(store),
      timers: systemTimers,
      schedule: new RetrySchedule({ soonMs: [], laterMs: [], jitterPercent: 0 }),
      perReceiverMax: 1,
      totalMax: 1,
      writing: 'each',
      write: (settlements) => this.writePages(settlements),
      onWriteFailure: (error) => {
        host.log.warn({ list: host.listPath, err: error }, 'Could not index pages; will retry');
      },
    });
    for (const lane of this.attaching.names()) if (!wanted.includes(lane)) void this.attaching.remove(lane);
    for (const lane of wanted) {
      if (this.attaching.has(lane)) this.attaching.wake(lane);
      else this.attaching.add(lane, attachWorker(lane));
    }
  }

  private async writePages(settlements: readonly Settlement<AttachTypes>[]): Promise<void> {
    this.beingPublished = settlements.length;
    try {
      await this.publishPages(settlements);
    } finally {
      this.beingPublished = 0;
      // The commit of the last pages was reported while they still counted as in progress.
      if (!this.stopped) this.tellProgress();
    }
  }

  private async publishPages(settlements: readonly Settlement<AttachTypes>[]): Promise<void> {
    const { host } = this.options;
    for (let begin = 0; begin < settlements.length;) {
      const left = settlements.slice(begin);
      begin += await host.exclusive(() =>
        host.withWritingTask(async (part) => {
          const { commit, done, damaged } = await host.runCommit({ kind: 'commit-pages', ...part, settlements: left });
          host.publishCommit(commit);
          if (damaged.length > 0) host.log.warn({ list: host.listPath, damaged }, DAMAGED_PAGES);
          return done;
        }),
      );
    }
  }

  /**
   * A file counts as read once its pages can be found. For files that several records link to, this is an
   * approximation.
   */
  private figures(): ExtractFigures {
    const { host, store } = this.options;
    store.refresh();
    const { pending, read, failed } = extractStore(store).figures();
    if (read === 0) return { pending, read, failed };
    const queued = attachQueue(store).figures(attachLane(host.state().currentVersion)).pending;
    const left = Math.min(read, Math.max(queued, this.beingPublished));
    return { pending: pending + left, read: read - left, failed };
  }

  // ---- records that were there before links were kept

  /** Returns the next step of searching records for links, if there is one. */
  private nextScan(): (() => Promise<void>) | undefined {
    const { host, store } = this.options;
    if (this.options.reader() === undefined) return undefined;
    store.refresh();
    const state = host.state();
    const { definition, version } = currentVersionOf(state);
    if (!hasFiles(definition, readKindsOf(state)) || host.published(version)?.recordCount === 0) return undefined;
    const extracts = extractStore(store);
    if (extracts.exists && extracts.scannedTo(version, definition) === Infinity) return undefined;
    return async () => {
      const { listPath, clock } = host;
      const task = { kind: 'queue-links', listPath, nowMs: clock.nowMs(), recordsMax: SCAN_RECORDS_MAX } as const;
      await host.exclusive(() => host.runCommit(task));
    };
  }

  /** Reports a job while files are to be read. */
  private tellProgress(): void {
    const { host } = this.options;
    const { pending, read, failed } = this.figures();
    if (pending === 0) {
      this.job?.finish();
      this.job = undefined;
      return;
    }
    const doneBefore = read + failed;
    if (this.job === undefined) {
      const subject = basename(host.listPath);
      this.job = host.progress.begin({ kind: 'resources', subject, total: doneBefore + pending, doneBefore });
      this.job.start();
    }
    this.job.advance(Math.max(0, doneBefore - this.job.read().done));
  }
}

/** As `ListFiles.linksBelow`, for a list that is not open. */
export function linksBelow(listPath: string, prefix: string): boolean {
  const store = new RecordStore(listPath);
  try {
    const extracts = extractStore(store);
    const state = store.state();
    const mayLink = state?.versions.some(({ definition }) => hasFiles(definition, readKindsOf(state)));
    return mayLink === true && extracts.exists && extracts.hasBelow(prefix);
  } finally {
    void store.close();
  }
}
