/** Has the recordings of a list transcribed: by which model, and what is kept of the transcripts. Main thread only. */
import {
  extractStore,
  RECORDING_KINDS,
  type FileReader,
  type FileToRead,
  type KeptTranscript,
  type ReadingItem,
  type Transcribing,
} from '../../extracts/index.js';
import type { RecordStore } from '../../records/index.js';
import type { SearchSettings } from '../contract/types.js';
import type { BackgroundHost } from '../versions/background-host.js';

export interface ListTranscriptsOptions {
  readonly host: BackgroundHost;
  readonly store: RecordStore;
  readonly settings: () => Pick<SearchSettings, 'account' | 'transcription_model'>;
  readonly reader: () => FileReader | undefined;
}

interface Unkept {
  readonly file: FileToRead;
  readonly kept: KeptTranscript;
}

export class ListTranscripts {
  /** Paid transcripts that could not be written to disk, by their key. */
  private readonly unkept = new Map<string, Unkept>();

  constructor(private readonly options: ListTranscriptsOptions) {}

  /** Undefined if the file is not transcribed. */
  of({ url, kind = 'document', transcribe }: ReadingItem): Transcribing | undefined {
    const { transcription_model: model = null } = this.options.settings();
    if (model === null || !RECORDING_KINDS.some((each) => each === kind)) return undefined;
    return {
      model,
      asks: transcribe === true,
      kept: async (key) => {
        // Nothing more is paid for before these are on disk.
        for (const [earlier, { file, kept }] of this.unkept) await this.keep(earlier, file, kept);
        const { store } = this.options;
        store.refresh();
        return extractStore(store).transcript(key);
      },
      keep: (key, kept) => this.keep(key, { url, kind }, kept),
    };
  }

  /** Version of the transcription model, if recordings have to be looked at because it changed; '' for none. */
  get otherVersion(): string | undefined {
    const { reader, settings, store } = this.options;
    const { account, transcription_model: model = null } = settings();
    const extracts = extractStore(store);
    if (reader() === undefined || !extracts.exists) return undefined;
    // Nothing is known of a missing model, so its transcripts stay.
    const version = model === null ? '' : reader()?.transcription?.versionOf(account, model);
    return version === extracts.transcribedBy() ? undefined : version;
  }

  /** Queues all recordings to be looked at, in many small steps. Rejects if that cannot be written. */
  async writeBy(version: string, isStopped: () => boolean): Promise<void> {
    const { host, store } = this.options;
    for (let after: string | undefined = ''; after !== undefined && !isStopped();)
      after = await this.step(version, after);
    store.refresh();
    host.log.info(
      { list: host.listPath },
      'Queued the recordings of a list to be transcribed again: its transcription model changed',
    );
  }

  private async step(version: string, after: string): Promise<string | undefined> {
    const { host } = this.options;
    const { listPath, clock } = host;
    const task = { kind: 'transcribe-by', listPath, nowMs: clock.nowMs(), version, after } as const;
    return (await host.exclusive(() => host.runCommit(task))).after;
  }

  private async keep(transcript: string, file: FileToRead, kept: KeptTranscript): Promise<void> {
    const { host } = this.options;
    this.unkept.set(transcript, { file, kept });
    const task = { kind: 'keep-transcript', listPath: host.listPath, file, transcript, kept } as const;
    await host.exclusive(() => host.runCommit(task));
    this.unkept.delete(transcript);
  }
}
