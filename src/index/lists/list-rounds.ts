/**
 * Opens lists that nobody has asked for: at startup those that were used last, and then, one after the other in the
 * background, those that a crash or a stop left unfinished work in. Main thread only.
 */
import type { Logger } from 'pino';
import { ServiceError } from '../../platform/index.js';
import type { ListedList, SearchSettings } from '../contract/types.js';
import type { RestRegister } from './rest-register.js';

/** Maximum number of lists opened at startup. Others are opened on request, or when they have work to do. */
const OPENED_AT_START_MAX = 64;
/** Maximum fraction of the main thread's time that is spent opening lists in the background. */
const PART_OF_TIME = 1 / 4;
const AGAIN_MS = 5000;
/**
 * Not worth logging: the index is being rebuilt or the list is damaged, which the log says already, or the list no
 * longer exists.
 */
const NO_FAILURES: readonly string[] = ['not-ready', 'list-damaged', 'shutting-down', 'list-not-found'];

export interface ListRoundsOptions {
  readonly log: Logger;
  readonly register: Pick<RestRegister, 'ids' | 'has'>;
  /** Maximum number of open lists. */
  readonly openMax: number;
  readonly isOpen: (listId: string) => boolean;
  readonly open: (listId: string, settings: SearchSettings) => Promise<unknown>;
}

export class ListRounds {
  private readonly waiting = new Map<string, SearchSettings>();
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly options: ListRoundsOptions) {}

  /** As `ListIndexes.resume`. */
  async begin(lists: Iterable<ListedList>): Promise<void> {
    const { register, openMax } = this.options;
    const all = new Map(Array.from(lists, ({ id, settings }) => [id, settings]));
    const known = new Set(register.ids().filter((id) => all.has(id)));
    const byUse = [...known, ...[...all.keys()].filter((id) => !known.has(id))];
    const first = new Set(byUse.slice(-Math.min(OPENED_AT_START_MAX, openMax)));
    await Promise.all(Array.from(first, (id) => this.open(id, all.get(id) as SearchSettings)));
    for (const id of byUse.toReversed())
      if (!first.has(id) && !register.has(id)) this.add(id, all.get(id) as SearchSettings);
  }

  /** Opens the list after those that were added before. */
  add(listId: string, settings: SearchSettings): void {
    if (this.stopped) return;
    this.waiting.set(listId, settings);
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  /** Adds closed lists with models: they may have records to embed, recordings to transcribe, or videos to look at. */
  addWithModels(lists: Iterable<ListedList>): void {
    for (const { id, settings } of lists) {
      const { model = null, image_model: ofPictures = null, transcription_model: ofSpeech = null } = settings;
      const hasModel = [model, ofPictures, ofSpeech].some((name) => name !== null);
      if (hasModel && !this.options.isOpen(id)) this.add(id, settings);
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.waiting.clear();
    await this.running;
  }

  private async run(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (const [listId, settings] of this.waiting) {
      this.waiting.delete(listId);
      const beganMs = performance.now();
      await this.open(listId, settings);
      if (this.stopped) return;
      const waitMs = (performance.now() - beganMs) * (1 / PART_OF_TIME - 1);
      await new Promise<void>((resolve) => setTimeout(resolve, waitMs));
    }
  }

  /** Never rejects. */
  private async open(listId: string, settings: SearchSettings): Promise<void> {
    try {
      await this.options.open(listId, settings);
    } catch (error) {
      if (error instanceof ServiceError && NO_FAILURES.includes(error.code)) return;
      const { account, list } = settings;
      this.options.log.error({ err: error, account, list, id: listId }, 'A list cannot be opened');
      if (!(error instanceof ServiceError && error.code === 'resources-exhausted')) return;
      setTimeout(() => {
        this.add(listId, settings);
      }, AGAIN_MS).unref();
    }
  }
}
