/** The options of a search (`SEARCH_OPTIONS`) as options of a command. */
import { SEARCH_OPTIONS, type SearchOption } from '../search/options/search-options.js';

/** By the names that Commander gives to the values of options. */
export type SearchCommandOptions = Readonly<Record<string, unknown>> & {
  readonly account?: string;
  /** Path of a file. */
  readonly image?: string;
  readonly json?: boolean;
};

export interface TypedOption {
  readonly name: string;
  readonly option: SearchOption<unknown>;
  /** As it is typed, without the value. */
  readonly flag: string;
  /** Where Commander has its value. */
  readonly key: string;
}

/** All but the words, which are what the command is given. */
export const TYPED_SEARCH_OPTIONS: readonly TypedOption[] = Object.entries(
  SEARCH_OPTIONS as Readonly<Record<string, SearchOption<unknown>>>,
)
  .filter(([name]) => name !== 'query')
  .map(([name, option]) => {
    const word = name.replaceAll('_', '-');
    const key = word.replaceAll(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
    return { name, option, flag: option.default === true ? `--no-${word}` : `--${word}`, key };
  });

/** Of the options of a search those that were given, by the names that the service has for them. */
export function givenOptions(options: SearchCommandOptions): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    TYPED_SEARCH_OPTIONS.flatMap(({ name, option, key }) => {
      const value = options[key];
      return value === undefined || value === option.default ? [] : [[name, value]];
    }),
  );
}
