/** Counts the segments and versions of the open lists when the metrics are read. */
import type { Metrics } from '../../platform/index.js';

/** Numbers of one list. */
export interface ListParts {
  /** Segments that searches look into, of all versions and kinds. */
  readonly segments: number;
  readonly versions: number;
  /** Number of versions that are not ready yet. */
  readonly building: number;
}

/** Lists in use; a list at rest has no parts. */
interface Lists {
  all(): Iterable<{ readonly open: { readonly parts: ListParts } | undefined }>;
}

export type PartMetrics = Pick<Metrics, 'beforeReading' | 'listSegments' | 'listVersions' | 'listVersionsBuilding'>;

export function measureParts(metrics: PartMetrics, lists: Lists): void {
  metrics.beforeReading(() => {
    const sum = { segments: 0, versions: 0, building: 0 };
    for (const { open } of lists.all()) {
      if (open === undefined) continue;
      const { segments, versions, building } = open.parts;
      sum.segments += segments;
      sum.versions += versions;
      sum.building += building;
    }
    metrics.listSegments.set(sum.segments);
    metrics.listVersions.set(sum.versions);
    metrics.listVersionsBuilding.set(sum.building);
  });
}
