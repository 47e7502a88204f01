/** The open features of a service. Main thread only. */
import { joinedEventSinks, type EventSink, type ServiceKey } from '../../platform/index.js';
import type { FeatureParts, FeaturePlatform, OpenFeature } from './feature.js';
import type { Trouble } from './service-state.js';
import type { Services } from './services.js';

export class OpenFeatures {
  readonly #open: OpenFeature[] = [];
  readonly #parts = new Map<string, unknown>();
  readonly #sinks: EventSink[] = [];

  /** Opens a feature; passes on errors of its `open`. Throws if another feature provides the same part. */
  async open(
    feature: Pick<FeatureParts, 'open'>,
    platform: Omit<FeaturePlatform, 'part' | 'events'>,
  ): Promise<OpenFeature> {
    const opened = await feature.open({ ...platform, events: this.events, part: (key) => this.part(key) });
    this.#open.push(opened);
    for (const { key, part } of opened.parts ?? []) {
      if (this.#parts.has(key.name)) throw new Error(`two features provide '${key.name}'`);
      this.#parts.set(key.name, part);
    }
    if (opened.events !== undefined) this.#sinks.push(opened.events);
    return opened;
  }

  /** Throws if no feature provides the part. */
  part<Part>(key: ServiceKey<Part>): Part {
    const part = this.#parts.get(key.name);
    if (part === undefined) throw new Error(`no feature provides '${key.name}'`);
    return part as Part;
  }

  /**
   * Sink for writers of events. Can be used before the features that receive them are open: until then, no events are
   * wanted.
   */
  readonly events: EventSink = joinedEventSinks(this.#sinks);

  /** What operations ask all features together. */
  readonly services: Pick<Services, 'part' | 'forget' | 'isUsed'> = {
    part: (key) => this.part(key),
    forget: async (work) => {
      const answers = await Promise.all(this.#open.map((feature) => feature.forget?.(work) ?? Promise.resolve(true)));
      return answers.every(Boolean);
    },
    isUsed: (list) => this.#open.some((feature) => feature.uses?.(list) ?? false),
  };

  start(): void {
    for (const feature of this.#open) feature.start?.();
  }

  /** Returns the troubles of all features. */
  async troubles(): Promise<readonly Trouble[]> {
    const all = await Promise.all(this.#open.map((feature) => feature.troubles?.() ?? Promise.resolve([])));
    return all.flat();
  }

  /** Rejects if a feature fails to create its greeting. */
  async greetings(address: string): Promise<readonly string[]> {
    const all = await Promise.all(
      this.#open.map((feature) => feature.greeting?.(address) ?? Promise.resolve(undefined)),
    );
    return all.filter((text) => text !== undefined);
  }
}
