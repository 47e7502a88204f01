/** How many vectors a record of a generation has in the mean. Belongs to one thread. */
import type { GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { BoundedMap } from '../../platform/index.js';

const GENERATIONS_MAX = 256;

export class VectorsPerRecord {
  /** Handles are never used twice, and a generation is never changed. */
  private readonly known = new BoundedMap<GenerationHandle, number>(GENERATIONS_MAX);

  constructor(private readonly kernel: Pick<Kernel, 'generationInfo' | 'generationVectors'>) {}

  /** Records without a vector count as well: nobody counts those that have some. */
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
