/**
 * Words that no account can have as its name, because a path has them where another has an account
 * (`/list/synonyms/{account}/{list}` beside `/list/{account}/{list}`): they come from the paths of the operations.
 */
import type { Operation } from './operation.js';

/** Promised by the interface, and in no path yet: an account that has one now would be in the way then. */
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

/** Whether an account stands at that place of the path behind the same words as in `beside`. */
function namesAccountAt(path: readonly string[], place: number, beside: readonly string[]): boolean {
  return path[place] === '{account}' && path.slice(0, place).every((word, before) => word === beside[before]);
}

function isParameter(word: string): boolean {
  return word.startsWith('{');
}
