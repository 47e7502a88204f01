/** The command `gannet search`, with an option for every search option (`SEARCH_OPTIONS`). */
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { SearchOption } from '../search/options/search-options.js';
import type { Run } from './command-context.js';
import {
  TYPED_SEARCH_OPTIONS,
  type SearchCommandOptions,
  type TypedOption,
  type TypedOptionName,
} from './search-command-options.js';
import { accountOption, configOption, jsonOption } from './shared-options.js';

const floorOf = (kind: string): string => `leave out hits with a lower ${kind} score (0 to 1)`;

/** Help texts. They replace the API's descriptions, which are longer and do not say what a `--no-` option does. */
const TOLD: Readonly<Record<TypedOptionName, string>> = {
  analytics: 'do not count the search in analytics',
  box: 'for example 51.3,-0.5,51.7,0.3 (south, west, north, east)',
  cache: 'search anew, even if the answer is in the cache',
  disjunctive_facets: 'count each facet without the condition that the filter has on it',
  distinct: 'show one hit per value of this facet, for example one per product',
  exact: 'compare all vectors one by one: exact, but slower',
  explain: 'explain the score of each hit',
  facet_query: 'show only facet values of which the words begin with these',
  facet_size: 'most values to show for each facet; default 20',
  facets: 'count the values of these facets',
  fields_bytes_max: 'leave out fields of a hit that exceed this size',
  filter: 'for example "population > 1000000 and country = \'Japan\'"',
  highlight: 'do not mark the found words',
  match: 'which words must be found; default any',
  order_by: 'for example "population desc"',
  prefix: 'also find words that begin with the last word of the query',
  radius: 'for example 51.5,-0.12,10km',
  ranking: 'none: show the hits in the order in which records are stored',
  reranker: 'do not rerank the hits',
  search_fields: 'look for the words in these fields only',
  select: 'fields to show; default: all',
  size: 'number of hits to show; default 10',
  skip: 'number of hits to skip; default 0',
  typo_tolerance: 'find words only as they are spelt',
  vector: 'find the records nearest to this vector',
  vector_search: 'find records by words only, not by meaning',
  minimum_text_score: floorOf('text'),
  minimum_image_score: floorOf('image'),
  minimum_document_score: floorOf('document'),
  minimum_video_score: floorOf('video'),
  minimum_audio_score: floorOf('audio'),
};
const VALUE_NAMES: Readonly<Record<string, string>> = {
  distinct: 'facet',
  facet_query: 'words',
  filter: 'expression',
  match: 'mode',
  order_by: 'fields',
  radius: 'circle',
  size: 'count',
  skip: 'count',
  vector: 'numbers',
};

export function addSearchCommand(program: Command, run: Run): void {
  const command = program
    .command('search')
    .description('search a list and print the hits')
    .argument('<list>', 'the list')
    .argument('[query...]', 'words to look for; without any, all records')
    .addOption(configOption());
  for (const typed of TYPED_SEARCH_OPTIONS) command.addOption(optionOf(typed));
  command
    .option('--image <file>', 'search by this picture instead of words')
    .addOption(accountOption())
    .addOption(jsonOption())
    .action((list: string, query: string[], options: SearchCommandOptions) =>
      run(async (context) => (await import('./commands/search.js')).search(context, list, query.join(' '), options)),
    );
}

interface MemberSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
}

function optionOf({ name, option, flag }: TypedOption): Option {
  const { type, enum: choices } = option.schema as MemberSchema;
  const description = TOLD[name];
  if (type === 'boolean') return new Option(flag, description);
  const typed = new Option(`${flag} <${VALUE_NAMES[name] ?? VALUE_NAMES_OF_TYPE[type ?? ''] ?? 'value'}>`, description);
  if (choices !== undefined) return typed.choices(choices);
  return typed.argParser((text) => valueOf(type, option, text));
}

const VALUE_NAMES_OF_TYPE: Readonly<Record<string, string>> = { integer: 'count', number: 'number', string: 'names' };

/** Parses an option's value. The range of numbers is left to the service. */
function valueOf(type: string | undefined, option: SearchOption<unknown>, text: string): unknown {
  if (type !== 'integer' && type !== 'number') return option.read === undefined ? text : (option.read(text) ?? text);
  const number = Number(text);
  if (text.trim() === '' || !(type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number)))
    throw new InvalidArgumentError(type === 'integer' ? 'A whole number is expected.' : 'A number is expected.');
  return number;
}
