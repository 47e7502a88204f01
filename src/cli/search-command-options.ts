/** The search options (`SEARCH_OPTIONS`) as command-line options. */
import { SEARCH_OPTIONS, type SearchOption } from '../search/options/search-options.js';

/** Values of options, by the keys that Commander gives them. */
export type SearchCommandOptions = Readonly<Record<string, unknown>> & {
  readonly account?: string;
  /** Path of a file. */
  readonly image?: string;
  readonly json?: boolean;
};

/** Names of all search options except `query`, which is the command's argument. */
export type TypedOptionName = Exclude<keyof typeof SEARCH_OPTIONS, 'query'>;

export interface TypedOption {
  readonly name: TypedOptionName;
  readonly option: SearchOption<unknown>;
  /** Flag as typed, without a value. */
  readonly flag: string;
  /** Key of the value in Commander's options. */
  readonly key: string;
}

export const TYPED_SEARCH_OPTIONS: readonly TypedOption[] = (
  Object.entries(SEARCH_OPTIONS) as [TypedOptionName | 'query', SearchOption<unknown>][]
).flatMap(([name, option]) => {
  if (name === 'query') return [];
  const word = name.replaceAll('_', '-');
  const key = word.replaceAll(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
  return [{ name, option, flag: option.default === true ? `--no-${word}` : `--${word}`, key }];
});

/** Returns the options whose value is not the default, by their names in the API. */
export function givenOptions(options: SearchCommandOptions): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    TYPED_SEARCH_OPTIONS.flatMap(({ name, option, key }) => {
      const value = options[key];
      return value === undefined || value === option.default ? [] : [[name, value]];
    }),
  );
}
