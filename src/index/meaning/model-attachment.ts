/**
 * Attaches to a list the model that its settings name. If that cannot be written, it is retried in the background: the
 * settings are in force anyway, and no change of them is refused for it. Main thread only.
 */
import type { ListState, VectorSpace } from '../../store/index.js';
import { BUILT_IN_MODEL } from '../../vectors/index.js';
import type { AttachModelTask } from '../contract/ingest-tasks.js';
import type { BackgroundHost } from '../versions/background-host.js';
import { BackgroundRounds } from '../versions/background-rounds.js';

type Model = AttachModelTask['model'];

/**
 * Number of earlier models whose vectors are kept, the latest ones; each adds to the cost of every write and version.
 * Vectors that came with records exist nowhere else, so they do not count and are never removed.
 */
const RESTING_KEPT = 3;

export interface ModelAttachmentOptions {
  readonly host: BackgroundHost;
  /** Returns the model to attach. Null: none. Undefined if the name refers to no model now. */
  readonly wanted: () => Model | undefined;
  /** Adopts the state of a commit that does not affect searches. */
  readonly adopt: (state: ListState) => void;
  /** Called when a model was attached by a retry, later than the call that asked for it. */
  readonly onAttached: () => void;
}

export class ModelAttachment {
  private readonly attaching: BackgroundRounds;
  /**
   * Separate rounds, so that vectors that cannot be removed, for example damaged ones, do not prevent attaching a
   * model.
   */
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

  /** Resolves to true when the model is attached or there is nothing to attach; false if that failed. */
  async attached(): Promise<boolean> {
    try {
      if (this.missing() !== undefined) await this.attach();
      return true;
    } catch {
      this.attaching.look();
      return false;
    }
  }

  /** Call it after each commit of the list: when a new space serves, an earlier one becomes resting. */
  committed(): void {
    if (surplusSpace(this.options.host.state()) !== undefined) this.forgetting.look();
  }

  /** Error of the last attempt, until one succeeds or there is nothing left to attach. */
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
      // When the turn comes, another model may be wanted.
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
      // When the turn comes, the space's model may be attached again.
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

/**
 * Returns the resting space that was attached the longest time ago; undefined if there are few enough. Spaces of the
 * built-in model are removed when it learns again.
 */
function surplusSpace({ meaning }: ListState): VectorSpace | undefined {
  const resting = (meaning?.spaces ?? []).filter(
    ({ state, source, model }) => state === 'resting' && source === 'embedder' && model !== BUILT_IN_MODEL,
  );
  return resting.length > RESTING_KEPT ? resting[0] : undefined;
}

/** Returns the space that is being filled or, without one, the serving space. */
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
