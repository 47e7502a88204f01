/**
 * A list as the rest of the service holds it, whether open or at rest. Calls that need an open list open it; what is
 * known of a list at rest is answered without that. So nobody has to care when lists are closed to make room. Main
 * thread only.
 */
import type {
  GenerationLease,
  GenerationSettings,
  ImportSession,
  ListFiles,
  ListIndex,
  MeaningStatus,
  ResourcesStatus,
  SearchSettings,
  SyncSession,
  VersionStatus,
  WriteRequest,
  WriteResult,
} from '../contract/types.js';
import type { KeptOutline } from './kept-outline.js';
import type { OpenListIndex } from './list-index.js';

/** Opens a list again. */
export interface ListOpener {
  /** Resolves when the list is open. Rejects as `ListIndexes.open` does. */
  open(listId: string, settings: SearchSettings): Promise<unknown>;
  /** Opens the list synchronously, without verifying the checksums of its segments. */
  openNow(handle: ListHandle): OpenListIndex;
}

/** What is reported about a list at rest. Kept as JSON, because thousands of them are in memory. */
interface Outline {
  readonly currentVersion: number;
  readonly versions: readonly VersionStatus[];
  readonly meaning: MeaningStatus;
  readonly resources: ResourcesStatus | undefined;
}

export class ListHandle implements ListIndex {
  /** Value of the counter of uses (`OpenLists`) at the last use; 0 if it was never used. */
  usedAt = 0;
  private index: OpenListIndex | undefined;
  private outline: string | undefined;
  /** Fingerprint of the store for which the outline on disk is valid; undefined if there is none. */
  keptFor: string | undefined;

  constructor(
    readonly listId: string,
    readonly listPath: string,
    /** Settings with which the list is opened. */
    public settings: SearchSettings,
    private readonly opener: ListOpener,
  ) {}

  /** Undefined at rest. */
  get open(): OpenListIndex | undefined {
    return this.index;
  }

  /** True if the list's outline is known. */
  get isKnown(): boolean {
    return this.index === undefined ? this.outline !== undefined : !this.index.isRefused;
  }

  opened(index: OpenListIndex): void {
    this.index = index;
    this.outline = undefined;
  }

  /** Releases the open list, which the caller closes. Returns the outline that is reported from now on, as JSON. */
  rest(): string {
    const { currentVersion } = this;
    const told = { versions: this.versions(), meaning: this.meaning(), resources: this.resources() };
    const outline: Outline = { currentVersion, ...told };
    this.outline = JSON.stringify(outline);
    this.index = undefined;
    return this.outline;
  }

  /** Sets the outline that `rest` returned when the list was closed, unless a newer one is known. */
  wasAtRest({ outline, print }: KeptOutline): void {
    if (this.isKnown) return;
    this.outline = outline;
    this.keptFor = print;
  }

  get currentVersion(): number {
    return this.index?.currentVersion ?? this.told().currentVersion;
  }

  /** Number of records of the current version. */
  get recordCount(): number {
    return this.versions().find(({ version }) => version === this.currentVersion)?.record_count ?? 0;
  }

  versions(): readonly VersionStatus[] {
    return this.index?.versions() ?? this.told().versions;
  }

  meaning(): MeaningStatus {
    return this.index?.meaning() ?? this.told().meaning;
  }

  resources(): ResourcesStatus | undefined {
    return this.index === undefined ? this.told().resources : this.index.resources();
  }

  get files(): ListFiles {
    return this.index?.files ?? this.filesAtRest;
  }

  lease(version?: number): GenerationLease {
    return this.awake().lease(version);
  }

  searchedBy(version: number): GenerationSettings['meaning'] {
    return this.awake().searchedBy(version);
  }

  picturesSearchedBy(version: number): GenerationSettings['meaning'] {
    return this.awake().picturesSearchedBy(version);
  }

  sequence(version: number): number | undefined {
    return this.index?.sequence(version);
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.index?.write(request) ?? this.whenOpen((index) => index.write(request));
  }

  startImport(...given: Parameters<ListIndex['startImport']>): ImportSession {
    return this.awake().startImport(...given);
  }

  startSync(source: string, format: Parameters<ListIndex['startSync']>[1]): SyncSession {
    return this.awake().startSync(source, format);
  }

  deleteMatching(...given: Parameters<ListIndex['deleteMatching']>): Promise<number> {
    return this.whenOpen((index) => index.deleteMatching(...given));
  }

  changeDefinition(...given: Parameters<ListIndex['changeDefinition']>): Promise<number> {
    return this.whenOpen((index) => index.changeDefinition(...given));
  }

  async applySettings(settings: SearchSettings): Promise<void> {
    this.settings = settings;
    await this.whenOpen((index) => index.applySettings(settings));
  }

  /** If the list cannot be opened now, its entry is written when it is next opened. */
  keepEntry(): Promise<void> {
    return this.whenOpen((index) => index.keepEntry()).catch(() => undefined);
  }

  reindex(): Promise<number> {
    return this.whenOpen((index) => index.reindex());
  }

  retryEmbeddings(): Promise<number> {
    return this.whenOpen((index) => index.retryEmbeddings());
  }

  removeToldRows(): Promise<void> {
    return this.whenOpen((index) => index.removeToldRows());
  }

  check(): Promise<readonly string[]> {
    return this.whenOpen((index) => index.check());
  }

  endIfUnwritten(...given: Parameters<ListIndex['endIfUnwritten']>): Promise<boolean> {
    return this.whenOpen((index) => index.endIfUnwritten(...given));
  }

  /** As `OpenListIndex.whileUnchanged`. */
  whileUnchanged<Result>(action: () => Promise<Result>): Promise<Result> {
    return this.whenOpen((index) => index.whileUnchanged(action));
  }

  /** Opens the list first if it is at rest. */
  private async whenOpen<Result>(action: (index: OpenListIndex) => Promise<Result>): Promise<Result> {
    if (this.index === undefined) await this.opener.open(this.listId, this.settings);
    return action(this.awake());
  }

  private readonly filesAtRest: ListFiles = {
    status: () => this.resources(),
    refresh: (failedOnly) => this.whenOpen(({ files }) => files.refresh(failedOnly)),
    changed: (urls) => this.whenOpen(({ files }) => files.changed(urls)),
    linksBelow: (prefix) => this.awake().files.linksBelow(prefix),
    linksTo: (file) => this.awake().files.linksTo(file),
    texts: (name, pages) => this.whenOpen(({ files }) => files.texts(name, pages)),
  };

  private awake(): OpenListIndex {
    return this.index ?? this.opener.openNow(this);
  }

  private told(): Outline {
    if (this.outline === undefined) {
      const index = this.awake();
      const told = { versions: index.versions(), meaning: index.meaning(), resources: index.resources() };
      return { currentVersion: index.currentVersion, ...told };
    }
    return JSON.parse(this.outline) as Outline;
  }
}
