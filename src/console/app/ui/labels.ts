import { text } from '../messages/index.js';

/** What a member of an operation is called on a page: in words where there are some, and by its name else. */
export function labelOf(name: string): string {
  return text.labels[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;
}

/** What a type of facet is called; one without words of its own by its name. */
export function facetType(type: string): string {
  return text.fields.types[type] ?? `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}
