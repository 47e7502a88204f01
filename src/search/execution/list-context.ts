/**
 * What a search needs to know of a list besides its index: read from the generation's settings, with synonyms and query
 * rules compiled, and kept for the generations that were searched last. A write makes a new generation with the same
 * settings, which costs no compiling. Belongs to one thread.
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
import { SynonymMatcher, type SynonymRule } from '../../synonyms/synonym-matcher.js';

export interface ListContext {
  readonly settings: GenerationSettings;
  readonly layout: KernelLayout;
  /** Its records may link to files that are searched by words. */
  readonly hasPages: boolean;
  /** They may link to videos, which are found by their frames. */
  readonly hasVideos: boolean;
  /** Kinds of the files that are searched by words. */
  readonly pageKinds: readonly PagesOfKind[];
  readonly synonyms: SynonymMatcher;
  readonly queryRules: readonly CompiledQueryRule[];
  readonly functionWords: ReadonlySet<string>;
}

const GENERATIONS_MAX = 256;
const SETTINGS_MAX = 64;
/** Words that the analyser only parts at their blanks. */
const PLAIN_WORDS = /^[a-z]+(?: [a-z]+)*$/;

export class ListContexts {
  /** In the order of use, the least recent first. Handles are never used twice, so an entry never grows wrong. */
  private readonly byGeneration = new BoundedMap<GenerationHandle, ListContext>(GENERATIONS_MAX);
  private readonly bySettings = new BoundedMap<string, ListContext>(SETTINGS_MAX);
  /** Of the last search, and nearly always of the next: putting an entry last makes a map grow anew time and again. */
  private latest: { readonly generation: GenerationHandle; readonly context: ListContext } | undefined;

  constructor(private readonly kernel: Pick<Kernel, 'generationSettings' | 'analyse'>) {}

  get(generation: GenerationHandle): ListContext {
    if (this.latest?.generation === generation) return this.latest.context;
    let context = this.byGeneration.get(generation);
    if (context === undefined) context = this.ofSettings(this.kernel.generationSettings(generation));
    this.byGeneration.renew(generation, context);
    this.latest = { generation, context };
    return context;
  }

  /** The list as it would be with one more synonym rule; not kept. */
  withSynonymRule(generation: GenerationHandle, rule: SynonymRule): ListContext {
    const { settings } = this.get(generation);
    return this.compile({ ...settings, synonym_rules: [...settings.synonym_rules, rule] });
  }

  private ofSettings(json: string): ListContext {
    const context = this.bySettings.get(json) ?? this.compile(JSON.parse(json) as GenerationSettings);
    this.bySettings.renew(json, context);
    return context;
  }

  private compile(settings: GenerationSettings): ListContext {
    const { definition, language } = settings;
    // What the operations stored, they checked.
    const queryRules = settings.query_rules as readonly QueryRule[];
    const synonymRules = settings.synonym_rules as readonly SynonymRule[];
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
    PLAIN_WORDS.test(text) ? text.split(' ') : this.kernel.analyse(segmentForKernel(text)).map(({ term }) => term);
}
