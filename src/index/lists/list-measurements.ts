/** What the open lists are made of, counted when somebody reads the measurements. */
import type { Metrics } from '../../platform/index.js';

/** Of one list. */
export interface ListParts {
  /** Segments that its searches look into, of all of its versions and kinds. */
  readonly segments: number;
  readonly versions: number;
  /** Of them: not ready yet. */
  readonly building: number;
}

/** The lists that are open; at rest, one has no parts. */
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
