/**
 * Rewords the service's errors for somebody who typed a command: members and parameters become options and arguments.
 * For something that does not exist, names the command that lists what exists.
 */
import type { Argument, Option } from 'commander';
import type { ErrorPlace, Problem } from '../platform/index.js';

/** Options with a name other than their member's. */
const OPTION_OF_MEMBER: Readonly<Record<string, string>> = { expires_at: '--expires' };

/** Commands that list what exists, by error code. */
const LISTED_BY: Readonly<Record<string, string>> = {
  'account-not-found': 'gannet account list',
  'contributor-not-found': 'gannet contributor list',
  'feed-not-found': 'gannet feed list',
  'file-not-found': 'gannet media list',
  'group-not-found': 'gannet call list-group.list',
  'key-not-found': 'gannet key list',
  'list-not-found': 'gannet list',
  'media-store-not-found': 'gannet media-store list',
  'webhook-not-found': 'gannet webhook list',
};

/** The parts of a called command that are needed here. */
export interface TypedCommand {
  readonly options: readonly Pick<Option, 'long'>[];
  readonly registeredArguments: readonly Pick<Argument, 'name'>[];
  readonly parent?: { name(): string; readonly commands: readonly { name(): string }[] } | null;
  opts(): Readonly<Record<string, unknown>>;
}

/** Returns the problem with options and arguments in place of members. Options of `gannet call` are members already. */
export function inTypedWords(problem: Problem, command: TypedCommand): Problem {
  const { errors = [] } = problem;
  // Only faults of the request have places.
  if (errors.length === 0 || command.options.some(({ long }) => long === '--param')) return problem;
  const told = errors.map((place) => toldPlace(place, command));
  const [first] = errors;
  const [only] = told;
  if (first === undefined || only === undefined) return problem;
  const { pointer, parameter } = first;
  const place = parameter ?? pointer ?? '';
  // Code that reads a search option knows its name, but not where it came from.
  const isPlaced = [place, memberOf(first)].some((named) => named !== '' && problem.detail.startsWith(`${named}: `));
  if (isPlaced) {
    const more = told.length > 1 ? ` (and ${told.length - 1} more)` : '';
    return { ...problem, detail: `${only.parameter}: ${only.detail}${more}`, errors: told };
  }
  const detail = inOptions(problem.detail, command);
  const isNamed = only.parameter === undefined || told.length > 1 || detail.includes(only.parameter);
  return { ...problem, detail: isNamed ? detail : `${only.parameter}: ${detail}`, errors: told };
}

/** Returns the first part of a pointer, or the name of a parameter. */
function memberOf({ pointer, parameter }: ErrorPlace): string {
  return parameter ?? (pointer ?? '').split('/')[1] ?? '';
}

function toldPlace({ pointer, parameter, detail }: ErrorPlace, command: TypedCommand): ErrorPlace {
  const [member = '', ...within] = parameter === undefined ? (pointer ?? '').split('/').slice(1) : [parameter];
  const told = inOptions(detail, command);
  if (member === '') return { detail: told };
  return { parameter: `${typedName(member, command) ?? member}${withinText(within)}`, detail: told };
}

/** Describes the place within an option. Items are separated by commas; any other structured value is JSON. */
function withinText(within: readonly string[]): string {
  if (within.length === 0) return '';
  const [item = ''] = within;
  if (within.length === 1 && /^\d+$/.test(item)) return ` (number ${Number(item) + 1})`;
  return ` /${within.join('/')}`;
}

/** Replaces members that the service names in its messages (`namedMember`). */
function inOptions(text: string, command: TypedCommand): string {
  return text.replaceAll(/`(\w+)`/g, (whole, member: string) => typedName(member, command) ?? whole);
}

/** Undefined if the command has no option or argument of that name. */
function typedName(member: string, { options, registeredArguments }: TypedCommand): string | undefined {
  const word = member.replaceAll('_', '-');
  const asked = [OPTION_OF_MEMBER[member], `--${word}`, `--${word}-stdin`];
  const option = options.find(({ long }) => typeof long === 'string' && asked.includes(long));
  if (typeof option?.long === 'string') return option.long;
  return registeredArguments.some((argument) => argument.name() === word) ? `<${word}>` : undefined;
}

/** Returns a sentence on what to do about a missing thing. Undefined if there is none. */
export function whatThereIs({ code }: Problem, command: TypedCommand): string | undefined {
  const listing = LISTED_BY[code] ?? (code === 'not-found' ? listingBeside(command) : undefined);
  if (listing === undefined) return undefined;
  const { account, store } = command.opts();
  const of = typeof account === 'string' && code !== 'account-not-found' ? ` --account ${account}` : '';
  const within = code === 'file-not-found' && typeof store === 'string' ? ` --store ${store}` : '';
  const shows = `\`${listing}${of}${within}\` shows all of them.`;
  const canMake = code === 'list-not-found' && command.options.some(({ long }) => long === '--create');
  if (!canMake) return shows;
  // The two exclude each other: a patch changes existing records only.
  const { patch } = command.opts();
  const instead = patch === true ? '--patch changes existing records only. Replace it by --create' : 'Add --create';
  return `${instead} to create ${patch === true ? 'the list' : 'it'} with the fields of the first records. ${shows}`;
}

/** Returns `gannet model list` for `gannet model show`. */
function listingBeside({ parent }: TypedCommand): string | undefined {
  const hasList = parent?.commands.some((each) => each.name() === 'list') === true;
  return hasList ? `gannet ${parent?.name() ?? ''} list` : undefined;
}
