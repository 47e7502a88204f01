/** Caches the mean number of vectors per record of a generation. Belongs to one thread. */
import type { GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { BoundedMap } from '../../platform/index.js';

const GENERATIONS_MAX = 256;

export class VectorsPerRecord {
  /** Never stale: handles are not reused, and generations are immutable. */
  private readonly known = new BoundedMap<GenerationHandle, number>(GENERATIONS_MAX);

  constructor(private readonly kernel: Pick<Kernel, 'generationInfo' | 'generationVectors'>) {}

  /**
   * Returns the mean over all live records. Those without a vector count too, because nothing counts the records that
   * have one.
   */
  of(generation: GenerationHandle): number {
    let vectors = this.known.get(generation);
    if (vectors === undefined) {
      vectors = this.counted(generation);
      this.known.set(generation, vectors);
    }
    return vectors;
  }

  private counted(generation: GenerationHandle): number {
    const vectors = this.kernel
      .generationVectors(generation)
      .reduce((sum, { vectorCount, deletedCount }) => sum + vectorCount - deletedCount, 0);
    return vectors / Math.max(1, this.kernel.generationInfo(generation).liveCount);
  }
}
