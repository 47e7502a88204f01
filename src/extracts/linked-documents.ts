/** Which files a record links to, of the kinds that are read. */
import type { FieldDefinition } from '../catalog/index.js';

/** Of the kinds of resources, those whose files are read. */
const READ_KIND = 'document';

export interface LinkedDocument {
  /** The resource field. */
  readonly field: string;
  /** Its value: `https:…` or `media:<store>/<path>`. */
  readonly url: string;
}

export function hasDocuments({ resources }: Pick<FieldDefinition, 'resources'>): boolean {
  return resources.some(({ kind }) => kind === READ_KIND);
}

/** In the order of the definition. */
export function linkedDocuments(
  { resources }: Pick<FieldDefinition, 'resources'>,
  fields: Readonly<Record<string, unknown>>,
): LinkedDocument[] {
  const linked: LinkedDocument[] = [];
  for (const { name, kind } of resources) {
    const url = fields[name];
    // A lenient version may hold what does not fit its definition.
    if (kind === READ_KIND && typeof url === 'string' && url !== '') linked.push({ field: name, url });
  }
  return linked;
}
