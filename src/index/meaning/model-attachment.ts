/**
 * Attaches to a list the model that its settings name. What cannot be written is tried again in the background: the settings are in force
 * all the same, and no change of them is refused for it. Main thread only.
 */
import type { ListState, VectorSpace } from '../../store/index.js';
import { BUILT_IN_MODEL } from '../../vectors/index.js';
import type { AttachModelTask } from '../contract/ingest-tasks.js';
import type { BackgroundHost } from '../versions/background-host.js';
import { BackgroundRounds } from '../versions/background-rounds.js';

type Model = AttachModelTask['model'];

/**
 * Models whose vectors stay when others take their place, the last ones: each costs every write and every version its part. Vectors that came with
 * records are nowhere else, and are not among those that go.
 */
const RESTING_KEPT = 3;

export interface ModelAttachmentOptions {
  readonly host: BackgroundHost;
  /** Null: none. Undefined where the name stands for nothing now. */
  readonly wanted: () => Model | undefined;
  /** The state of a commit that changed nothing by which the list is searched. */
  readonly adopt: (state: ListState) => void;
  /** Later than the call that asked for it. */
  readonly onAttached: () => void;
}

export class ModelAttachment {
  private readonly attaching: BackgroundRounds;
  /** Apart: vectors that cannot be let go, as damaged ones, keep no model from being attached. */
  private readonly forgetting: BackgroundRounds;
  private notAttached: { readonly error: unknown } | undefined;

  constructor(private readonly options: ModelAttachmentOptions) {
    const { host, onAttached } = options;
    this.attaching = new BackgroundRounds({
      host,
      next: () => (this.missing() === undefined ? undefined : () => this.attach().then(onAttached)),
      complaint: "A list's model could not be attached; tried again soon",
    });
    this.forgetting = new BackgroundRounds({
      host,
      next: () => (surplusSpace(host.state()) === undefined ? undefined : () => this.forgetSurplus()),
      complaint: 'Vectors of an earlier model of a list could not be let go; tried again soon',
    });
  }

  /** True when it is, or nothing is to be; false where that failed. */
  async attached(): Promise<boolean> {
    try {
      if (this.missing() !== undefined) await this.attach();
      return true;
    } catch {
      this.attaching.look();
      return false;
    }
  }

  /** After each commit of the list: a model that is served makes another one rest. */
  committed(): void {
    if (surplusSpace(this.options.host.state()) !== undefined) this.forgetting.look();
  }

  /** What the last attempt failed with, until one succeeds or there is nothing to attach any more. */
  get failure(): { readonly error: unknown } | undefined {
    return this.notAttached;
  }

  get restsUntilMs(): number {
    return Math.min(this.attaching.restsUntilMs, this.forgetting.restsUntilMs);
  }

  async stop(): Promise<void> {
    await Promise.all([this.attaching.stop(), this.forgetting.stop()]);
  }

  private attach(): Promise<void> {
    const { host } = this.options;
    return host.exclusive(async () => {
      // When its turn comes, another one may be wanted.
      const model = this.missing();
      if (model === undefined || this.attaching.stopped) return;
      try {
        host.reopen(await host.runCommit({ kind: 'attach-model', listPath: host.listPath, model }));
        this.notAttached = undefined;
      } catch (error) {
        this.notAttached = { error };
        throw error;
      }
    });
  }

  private forgetSurplus(): Promise<void> {
    const { host } = this.options;
    return host.exclusive(async () => {
      // When its turn comes, its model may be attached again.
      const space = surplusSpace(host.state())?.number;
      if (space === undefined || this.forgetting.stopped) return;
      this.options.adopt(await host.runCommit({ kind: 'forget-space', listPath: host.listPath, space }));
    });
  }

  private missing(): Model | undefined {
    const { host, wanted } = this.options;
    const model = wanted();
    if (model !== undefined && !isAttached(host.state(), model)) return model;
    this.notAttached = undefined;
    return undefined;
  }
}

/** Of those that rest, the one that was attached the longest time ago; undefined where they are few enough. The built-in model's go as it learns anew. */
function surplusSpace({ meaning }: ListState): VectorSpace | undefined {
  const resting = (meaning?.spaces ?? []).filter(
    ({ state, source, model }) => state === 'resting' && source === 'embedder' && model !== BUILT_IN_MODEL,
  );
  return resting.length > RESTING_KEPT ? resting[0] : undefined;
}

/** The one that is being filled, or else the one that serves. */
export function newestSpace({ meaning }: ListState): VectorSpace | undefined {
  const spaces = meaning?.spaces ?? [];
  return spaces.find(({ state }) => state === 'filling') ?? spaces.find(({ state }) => state === 'serving');
}

function isAttached(state: ListState, model: AttachModelTask['model']): boolean {
  const space = newestSpace(state);
  if (model === null) return (state.meaning?.spaces ?? []).every((each) => each.state === 'resting');
  return (
    space?.modelVersion === model.modelVersion &&
    (model.dimensions === null || space.dimensions === model.dimensions) &&
    space.model === model.model
  );
}
