/**
 * What a search needs to know of a list besides its index: read once from the generation's settings and kept for the
 * generations that were searched last. Belongs to one thread.
 */
import type { GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { kernelLayout, type GenerationSettings, type KernelLayout } from '../../index/index.js';

export interface ListContext {
  readonly settings: GenerationSettings;
  readonly layout: KernelLayout;
}

const CONTEXTS_MAX = 256;

export class ListContexts {
  /** In the order of use, the least recent first. Handles are never used twice, so an entry never grows wrong. */
  private readonly contexts = new Map<GenerationHandle, ListContext>();

  constructor(private readonly kernel: Pick<Kernel, 'generationSettings'>) {}

  get(generation: GenerationHandle): ListContext {
    let context = this.contexts.get(generation);
    if (context === undefined) {
      const settings = JSON.parse(this.kernel.generationSettings(generation)) as GenerationSettings;
      context = Object.freeze({ settings, layout: kernelLayout(settings.definition) });
      if (this.contexts.size >= CONTEXTS_MAX)
        this.contexts.delete(this.contexts.keys().next().value as GenerationHandle);
    } else {
      this.contexts.delete(generation);
    }
    this.contexts.set(generation, context);
    return context;
  }
}
