/**
 * Caches what a search needs to know of a list besides its index: settings of the generation, with synonyms and query
 * rules compiled. A write makes a new generation with the same settings, which compiles nothing anew. Keeps those
 * searched most recently. Belongs to one thread.
 */
import { BoundedMap } from '../../platform/index.js';
import type { GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import type { GenerationSettings } from '../../index/index.js';
import { kernelLayout, type KernelLayout } from '../../index/segments/kernel-layout.js';
import { hasFiles, hasTexts } from '../../extracts/index.js';
import { functionWords } from '../function-words.js';
import type { QueryRule } from '../rules/query-rule.js';
import { kindsOfPages, type PagesOfKind } from '../plan/pages-plan.js';
import { usableQueryRules, type CompiledQueryRule } from '../rules/query-rules.js';
import { ruleWord } from '../../synonyms/index.js';
import { SynonymMatcher, type SynonymRule } from '../../synonyms/synonym-matcher.js';

/** Settings without the rules, which are kept in compiled form only. */
export type KeptSettings = Omit<GenerationSettings, 'query_rules' | 'synonym_rules'>;

export interface ListContext {
  readonly settings: KeptSettings;
  readonly layout: KernelLayout;
  /** True if records may link to files that are searched by words. */
  readonly hasPages: boolean;
  /** True if records may link to videos whose frames are searched. */
  readonly hasVideos: boolean;
  /** Kinds of the files that are searched by words. */
  readonly pageKinds: readonly PagesOfKind[];
  readonly synonyms: SynonymMatcher;
  readonly queryRules: readonly CompiledQueryRule[];
  readonly functionWords: ReadonlySet<string>;
}

interface KnownContext {
  /** Settings JSON from which the context was compiled. */
  readonly json: string;
  readonly context: ListContext;
}

const GENERATIONS_MAX = 256;
const SETTINGS_MAX = 64;
/** Limit on the total length of cached settings, as JSON: the rules of some lists take megabytes. */
const SETTINGS_CHARACTERS_MAX = 4_000_000;
/** Text that the analyser would only split at blanks. */
const PLAIN_WORDS = /^[a-z]+(?: [a-z]+)*$/;

export class ListContexts {
  /** Ordered by use, least recent first. Handles are never reused, so an entry never becomes stale. */
  private readonly byGeneration = new BoundedMap<GenerationHandle, KnownContext>(GENERATIONS_MAX);
  /** Keyed by settings JSON, in the same order. */
  private readonly bySettings = new Map<string, KnownContext>();
  private settingsCharacters = 0;
  /**
   * Context of the last search, and nearly always of the next: moving an entry to the end of a Map makes the Map rehash
   * again and again.
   */
  private latest: { readonly generation: GenerationHandle; readonly context: ListContext } | undefined;

  constructor(private readonly kernel: Pick<Kernel, 'generationSettings' | 'analyse'>) {}

  get(generation: GenerationHandle): ListContext {
    if (this.latest?.generation === generation) return this.latest.context;
    const known = this.byGeneration.get(generation);
    const { json, context } = this.used(known?.json ?? this.kernel.generationSettings(generation));
    this.byGeneration.renew(generation, { json, context });
    this.latest = { generation, context };
    return context;
  }

  /**
   * Returns the context with one more synonym rule. The result is not cached; the other rules are not compiled again.
   */
  withSynonymRule(generation: GenerationHandle, rule: SynonymRule): ListContext {
    const context = this.get(generation);
    return { ...context, synonyms: context.synonyms.withRule(rule) };
  }

  private used(json: string): KnownContext {
    const known = this.bySettings.get(json);
    if (known !== undefined) {
      this.bySettings.delete(json);
      this.bySettings.set(json, known);
      return known;
    }
    const made = { json, context: this.compile(JSON.parse(json) as GenerationSettings) };
    this.makeRoom(json.length);
    this.bySettings.set(json, made);
    return made;
  }

  /** Evicts the least recently used settings until there is room for as many more characters. */
  private makeRoom(characters: number): void {
    this.settingsCharacters += characters;
    for (const known of this.bySettings.values()) {
      if (this.settingsCharacters <= SETTINGS_CHARACTERS_MAX && this.bySettings.size < SETTINGS_MAX) return;
      this.settingsCharacters -= known.json.length;
      this.bySettings.delete(known.json);
      this.byGeneration.deleteWhere(({ context }) => context === known.context);
    }
  }

  private compile({ query_rules, synonym_rules, ...settings }: GenerationSettings): ListContext {
    const { definition, language } = settings;
    // The operations checked the rules before storing them.
    const queryRules = query_rules as readonly QueryRule[];
    const synonymRules = synonym_rules as readonly SynonymRule[];
    return Object.freeze({
      settings,
      layout: kernelLayout(definition),
      hasPages: hasTexts(definition),
      hasVideos: hasFiles(definition, ['frames']),
      pageKinds: kindsOfPages(definition),
      synonyms: new SynonymMatcher(synonymRules, this.terms),
      queryRules: usableQueryRules(queryRules, definition),
      functionWords: functionWords(language),
    });
  }

  private readonly terms = (text: string): readonly string[] =>
    PLAIN_WORDS.test(text) ? text.split(' ') : this.kernel.analyse(segmentForKernel(text)).map(ruleWord);
}
