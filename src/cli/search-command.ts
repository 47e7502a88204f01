/** The command `gannet search`, with an option for every search option (`SEARCH_OPTIONS`). */
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { SearchOption } from '../search/options/search-options.js';
import type { Run } from './command-context.js';
import { TYPED_SEARCH_OPTIONS, type SearchCommandOptions, type TypedOption } from './search-command-options.js';
import { accountOption, configOption, jsonOption } from './shared-options.js';

/** Help texts that replace the API's descriptions, which are less suitable for a command line. */
const TOLD: Readonly<Record<string, string>> = {
  filter: 'for example "population > 1000000 and country = \'Japan\'"',
  match: 'which words must be found',
  order_by: 'for example "population desc"',
  facets: 'count the values of these facets',
  distinct: 'show one hit per value of this facet, for example one per product',
  radius: 'for example 51.5,-0.12,10km',
  size: 'number of hits to show; default 10',
  explain: 'explain the score of each hit',
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
  readonly description?: string;
}

function optionOf({ name, option, flag }: TypedOption): Option {
  const { type, enum: choices } = option.schema as MemberSchema;
  const description = describe(name, option);
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

/** Returns the help text of an option. That of a `--no-` option says what it switches off, which is true by default. */
function describe(name: string, { schema }: SearchOption<unknown>): string {
  const { description = '' } = schema as MemberSchema;
  const told = TOLD[name] ?? description;
  return told.slice(0, 1).toLowerCase() + told.slice(1);
}
