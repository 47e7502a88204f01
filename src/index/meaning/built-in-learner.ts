/**
 * Has the built-in model of a list learned: first when there are enough records, again when there are twice as many and
 * all have vectors of the previous model, and when a release stems the list's language in another way. The vectors of
 * the previous model are searched until those of the new one are complete. Main thread only.
 */
import type { RecordStore } from '../../records/index.js';
import { currentVersionOf, type ListState, type VectorSpace } from '../../store/index.js';
import { BUILT_IN_MODEL } from '../../vectors/index.js';
import type { AttachModelTask } from '../contract/ingest-tasks.js';
import type { BackgroundHost } from '../versions/background-host.js';
import { BackgroundRounds } from '../versions/background-rounds.js';

/** With fewer records it cannot be told which words belong together. */
export const LEARNED_RECORDS_MIN = 64;
const GROWTH = 2;
/**
 * As `GROWTH`, after no model could be learned, also for what a list has lost. Less, since there is none to search by
 * meanwhile; each record is then read some five times at most.
 */
const FRUITLESS_GROWTH = 1.25;
const NOTHING_IN_COMMON = 'The records have no words in common to learn from.';

export interface BuiltInLearnerOptions {
  readonly host: BackgroundHost;
  readonly store: RecordStore;
  readonly language: () => string;
  /** True if the built-in model is the list's model. */
  readonly isWanted: () => boolean;
  /** True if all records have their vectors in the space. */
  readonly isFilled: (space: VectorSpace) => boolean;
  /** Adopts the state of a commit that concerns only the model. */
  readonly adopt: (state: ListState) => void;
}

/** What no model could be learned from. */
interface Fruitless {
  readonly count: number;
  readonly version: number;
  readonly language: string;
}

export class BuiltInLearner {
  private readonly rounds: BackgroundRounds;
  /** True if the learned model cannot be read. */
  private isLost = false;
  private fruitless: Fruitless | undefined;

  constructor(private readonly options: BuiltInLearnerOptions) {
    this.rounds = new BackgroundRounds({
      host: options.host,
      next: () => this.next(),
      complaint: 'A built-in model could not be learned; tried again soon',
    });
  }

  /** Call it after each commit: starts what there is to do. */
  committed(): void {
    this.rounds.look();
  }

  /** Call it when the model of a space is missing or damaged. */
  lost({ number }: VectorSpace): void {
    // An earlier model is being removed anyway.
    if (newestBuiltIn(this.options.host.state())?.number !== number) return;
    this.isLost = true;
    this.committed();
  }

  /** Why a list with this model has no vectors yet. */
  status(): { readonly pending: number; readonly error?: string } {
    const pending = this.recordCount();
    if (pending < LEARNED_RECORDS_MIN) {
      return { pending, error: `It learns from ${LEARNED_RECORDS_MIN} records on; there are ${pending}.` };
    }
    return this.wasFruitless(pending) ? { pending, error: NOTHING_IN_COMMON } : { pending };
  }

  get restsUntilMs(): number {
    return this.rounds.restsUntilMs;
  }

  stop(): Promise<void> {
    return this.rounds.stop();
  }

  private next(): (() => Promise<void>) | undefined {
    const state = this.options.host.state();
    const newest = newestBuiltIn(state);
    const earlier = state.meaning?.spaces.find((space) => isBuiltIn(space) && space !== newest);
    if (earlier?.state === 'resting' && newest?.state !== 'filling') return () => this.forget(earlier);
    return this.isDue(newest) ? () => this.learn() : undefined;
  }

  private isDue(newest: VectorSpace | undefined): boolean {
    if (!this.options.isWanted()) return false;
    const count = this.recordCount();
    if (count < LEARNED_RECORDS_MIN || this.wasFruitless(count)) return false;
    if (newest === undefined || this.isLost || this.hasOtherStems(newest)) return true;
    const isGrown = count >= GROWTH * (newest.learnedFrom ?? 0);
    return isGrown && newest.state === 'serving' && this.options.isFilled(newest);
  }

  /**
   * True if the model's terms are stems of an earlier release: texts have others now, of which the model knows few. It
   * serves until the next one does.
   */
  private hasOtherStems({ stemsRevision = 0 }: VectorSpace): boolean {
    return stemsRevision !== this.stemsRevision();
  }

  private stemsRevision(): number {
    return this.options.host.kernel.stemsRevision(this.options.language());
  }

  /** True if nothing could be learned, and the list is much the same since. */
  private wasFruitless(count: number): boolean {
    const { fruitless } = this;
    if (fruitless === undefined) return false;
    const { host, language } = this.options;
    const { version } = currentVersionOf(host.state());
    if (fruitless.version !== version || fruitless.language !== language()) return false;
    return count < FRUITLESS_GROWTH * fruitless.count && fruitless.count < FRUITLESS_GROWTH * count;
  }

  private async learn(): Promise<void> {
    const { host, isWanted } = this.options;
    const { listPath } = host;
    const { version } = currentVersionOf(host.state());
    const language = this.options.language();
    const count = this.recordCount();
    const stemsRevision = this.stemsRevision();
    const bytesMax = host.budget.mergeBytesMax;
    const learned = await host.run({ kind: 'learn-model', listPath, version, language, bytesMax });
    if (learned === undefined) {
      this.fruitless = { count, version, language };
      return;
    }
    await host.exclusive(async () => {
      if (this.rounds.stopped || !isWanted()) return;
      const model = attachable({
        modelVersion: learned.version,
        dimensions: learned.dimensions,
        learnedFrom: count,
        stemsRevision,
      });
      host.reopen(await host.runCommit({ kind: 'attach-model', listPath, model, learned: learned.bytes }));
      this.isLost = false;
      this.fruitless = undefined;
    });
  }

  private async forget({ number }: VectorSpace): Promise<void> {
    const { host, adopt } = this.options;
    await host.exclusive(async () => {
      if (this.rounds.stopped) return;
      adopt(await host.runCommit({ kind: 'forget-space', listPath: host.listPath, space: number }));
    });
  }

  private recordCount(): number {
    const { host, store } = this.options;
    store.refresh();
    return store.version(currentVersionOf(host.state()).version).recordCount();
  }
}

/** Returns the model to attach if the list's model is the built-in one; undefined before it was learned. */
export function learnedModelOf(state: ListState): AttachModelTask['model'] | undefined {
  const space = newestBuiltIn(state);
  return space && attachable(space);
}

type Learned = Pick<VectorSpace, 'modelVersion' | 'dimensions' | 'learnedFrom' | 'stemsRevision'>;

function attachable({
  modelVersion,
  dimensions,
  learnedFrom = 0,
  stemsRevision = 0,
}: Learned): NonNullable<AttachModelTask['model']> {
  const stems = stemsRevision === 0 ? {} : { stemsRevision };
  return { model: BUILT_IN_MODEL, source: 'embedder', modelVersion, dimensions, learnedFrom, ...stems };
}

function newestBuiltIn({ meaning }: ListState): VectorSpace | undefined {
  return meaning?.spaces.filter(isBuiltIn).sort((left, right) => right.number - left.number)[0];
}

function isBuiltIn({ model }: VectorSpace): boolean {
  return model === BUILT_IN_MODEL;
}
