/** The kinds of fields that a list can have as facets. A new kind is a file in `kinds/` and a row here. */
import type { FieldKind } from './field-kind.js';
import { booleanKind } from './kinds/boolean-kind.js';
import { dateKind } from './kinds/date-kind.js';
import { numberKind } from './kinds/number-kind.js';
import { stringKind } from './kinds/string-kind.js';

/**
 * In the order in which they are listed to users. If two kinds recognise the same values, the later one is more
 * specific.
 */
export const FIELD_KINDS = [stringKind, numberKind, booleanKind, dateKind] as const satisfies readonly FieldKind[];

export type FacetType = (typeof FIELD_KINDS)[number]['type'];

const byType: ReadonlyMap<string, FieldKind> = new Map(FIELD_KINDS.map((kind) => [kind.type, kind]));

/** Throws for an unknown name; definitions are validated when they are created. */
export function fieldKind(type: FacetType): FieldKind {
  const kind = byType.get(type);
  if (kind === undefined) throw new Error(`there is no kind of field '${type as string}'`);
  return kind;
}
