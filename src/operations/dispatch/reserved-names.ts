/**
 * Words that cannot be account names, because a path has them where another has an account
 * (`/list/synonyms/{account}/{list}` and `/list/{account}/{list}`). Derived from the paths of the operations.
 */
import type { Operation } from './operation.js';

/**
 * Reserved for paths that the interface promises and that do not exist yet: an account with such a name would be in the
 * way later.
 */
const PROMISED: readonly string[] = [
  'analytics',
  'ask',
  'bulk',
  'click',
  'document-text',
  'eval',
  'evals',
  'events',
  'group',
  'image',
  'judge',
  'judges',
  'list',
  'related',
  'resources-refresh',
  'suggest',
  'suggestions',
];

export function reservedAccountNames(operations: readonly Pick<Operation, 'path'>[]): ReadonlySet<string> {
  const paths = operations.map(({ path }) => path.split('/').slice(1));
  const words = paths.flatMap((path) =>
    path.filter((word, place) => !isParameter(word) && paths.some((other) => namesAccountAt(other, place, path))),
  );
  return new Set([...PROMISED, ...words]);
}

/** True if the path has an account at that place, after the same words as in `beside`. */
function namesAccountAt(path: readonly string[], place: number, beside: readonly string[]): boolean {
  return path[place] === '{account}' && path.slice(0, place).every((word, before) => word === beside[before]);
}

function isParameter(word: string): boolean {
  return word.startsWith('{');
}
