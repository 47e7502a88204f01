/**
 * A feature is a folder with everything that it adds to the service; its `feature.ts` exports a `Feature`, and
 * `src/features.ts` lists them. What a feature declares is known before any of it is loaded. `main.ts` opens what it
 * loads in the order of that list, before any list is open, and closes it in the opposite order, before the lists.
 */
import type { Logger } from 'pino';
import type { Access } from '../../access/index.js';
import type { Catalog, ListRecord, SealedEntries, UnfinishedWork } from '../../catalog/index.js';
import type { ListIndexes } from '../../index/index.js';
import type {
  Clock,
  Config,
  EnvironmentFormat,
  EventCatalogue,
  EventKind,
  EventSink,
  LmdbEnvironment,
  Metrics,
  ProgressBoard,
  SearchActivity,
  SecretBox,
  ServiceKey,
  SettingsSection,
  StorageFaults,
} from '../../platform/index.js';
import type { CommandSpec } from './command.js';
import type { ListExtension } from './list-extension.js';
import type { Operation } from './operation.js';
import type { Trouble } from './service-state.js';

/** What the service offers to features. */
export interface FeaturePlatform {
  readonly config: Config;
  readonly dataDir: string;
  /** `data/system`. */
  readonly environment: LmdbEnvironment;
  /** Environments of all features, some of which may not exist yet. */
  readonly environments: readonly FeatureEnvironment[];
  readonly catalog: Catalog;
  readonly access: Access;
  readonly secrets: SecretBox;
  /** Where long-running jobs report their progress. */
  readonly progress: ProgressBoard;
  readonly clock: Clock;
  readonly log: Logger;
  /** Registers environments of the feature that cannot be read. */
  readonly faults: StorageFaults;
  /** A feature registers its own metrics in `metrics.registry`. */
  readonly metrics: Metrics;
  /** False: this process serves one command, and nothing may start by itself. */
  readonly listen: boolean;
  /** No list is open yet. */
  readonly indexes: ListIndexes;
  /** Lets work that can wait give way to searches. */
  readonly searchActivity: SearchActivity;
  /** Receives the events that the feature fires. */
  readonly events: EventSink;
  /** Returns a part of a feature that precedes this one in the list. Throws if there is none. */
  part<Part>(key: ServiceKey<Part>): Part;
}

export interface OpenFeature {
  /** Parts that operations and later features find by their keys. */
  readonly parts?: readonly ProvidedPart[];
  /** Receives the commits of `data/system` and of all lists that it wants. */
  readonly events?: EventSink;
  /**
   * Removes what belonged to a list, group or account that is gone. If it resolves with false or rejects, it is called
   * again at the next start.
   */
  forget?(work: UnfinishedWork): Promise<boolean>;
  /** True if somebody has given the feature something to do with the list, which would end with the list. */
  uses?(list: Pick<ListRecord, 'id'>): boolean;
  /** Starts what runs by itself, once the service is ready. Not called in a process that serves one command. */
  start?(): void;
  /**
   * Returns lines for the terminal of whoever starts the service, once it is ready at `address`, such as how to begin.
   * They are not logged. Undefined: none.
   */
  greeting?(address: string): Promise<string | undefined>;
  /** Returns what does not work, over all accounts, for the operator of the service. Never rejects. */
  troubles?(): Promise<readonly Trouble[]>;
  /** Ends threads and closes files; what was acknowledged is on disk. */
  close?(): Promise<void>;
}

/**
 * An LMDB environment below the data directory. If this release does not know its format, the start ends before
 * anything is opened.
 */
export interface FeatureEnvironment {
  /** Path relative to the data directory: `queue`. */
  readonly path: string;
  readonly format: EnvironmentFormat;
}

/**
 * Declarations of a feature, loaded everywhere; its file must not import anything that commands without need of it
 * would have to load.
 */
export interface Feature {
  readonly name: string;
  /** Read by `settingsOf(config, …)`. */
  readonly settings?: SettingsSection;
  readonly environments?: readonly FeatureEnvironment[];
  /** Where its sealed secrets are. */
  readonly sealed?: readonly SealedEntries[];
  /** Events that the feature fires, by type. */
  readonly events?: Readonly<Record<string, EventKind>>;
  /** Commands of `gannet` for its operations. */
  readonly commands?: readonly CommandSpec[];
  readonly load: () => Promise<FeatureParts>;
}

/** What a feature does. */
export interface FeatureParts {
  /** A function if their schemas contain what all features declare. */
  readonly operations: readonly Operation[] | ((declared: Declared) => readonly Operation[]);
  /** What it adds to lists. */
  readonly lists?: ListExtension;
  open(platform: FeaturePlatform): OpenFeature | Promise<OpenFeature>;
}

/** Declarations of all features, combined. */
export interface Declared {
  readonly events: EventCatalogue;
}

export interface ProvidedPart {
  readonly key: ServiceKey<unknown>;
  readonly part: unknown;
}

export function provide<Part>(key: ServiceKey<Part>, part: Part): ProvidedPart {
  return { key, part };
}
