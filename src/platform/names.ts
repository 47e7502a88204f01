/** Rules for names of accounts, lists, groups, feeds and media stores. */
import { ServiceError, type ErrorPlace } from './errors.js';

export type NameKind = 'account' | 'list' | 'group' | 'feed' | 'media store';

export const NAME_PATTERN_SOURCE = '^[a-z0-9][a-z0-9_\\-]{0,63}$';
/** The pattern in words, for messages. */
export const NAME_PATTERN_WORDS = "1 to 64 lower-case letters, digits, '-' and '_', the first a letter or digit";
const NAME_PATTERN = new RegExp(NAME_PATTERN_SOURCE);
const NAME_IN_BODY = { pointer: '/name' };

export function isName(value: string): boolean {
  return NAME_PATTERN.test(value);
}

/** Returns what is wrong with the name, as a sentence; undefined if it is valid. */
export function nameFault(kind: NameKind, value: string): string | undefined {
  if (!isName(value)) {
    return `The name of ${kind === 'account' ? 'an' : 'a'} ${kind} is ${NAME_PATTERN_WORDS}.`;
  }
  return undefined;
}

/** Throws `invalid-name` unless the value is a valid name. `place`: its place in the request. */
export function assertName(kind: NameKind, value: string, place: Omit<ErrorPlace, 'detail'> = NAME_IN_BODY): void {
  const detail = nameFault(kind, value);
  if (detail !== undefined) throw new ServiceError('invalid-name', detail, { errors: [{ ...place, detail }] });
}
