import { text } from '../messages/index.js';

/** Returns the label of an operation's member, by default derived from its name. */
export function labelOf(name: string): string {
  return text.labels[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;
}

/** Returns the label of a type of facet, by default derived from its name. */
export function facetType(type: string): string {
  return text.fields.types[type] ?? `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}
