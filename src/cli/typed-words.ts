/**
 * What the service says of a request, in the words of who typed a command: members and parameters are the command's options and arguments.
 * Where it says that something is not there, the command that lists what there is.
 */
import type { Argument, Option } from 'commander';
import type { ErrorPlace, Problem } from '../platform/index.js';

/** Options that are called other than the member that they give. */
const OPTION_OF_MEMBER: Readonly<Record<string, string>> = { expires_at: '--expires' };

/** Commands by whose answer one sees what was meant. */
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

/** As far as it is needed of a command that was called. */
export interface TypedCommand {
  readonly options: readonly Pick<Option, 'long'>[];
  readonly registeredArguments: readonly Pick<Argument, 'name'>[];
  readonly parent?: { name(): string; readonly commands: readonly { name(): string }[] } | null;
  opts(): Readonly<Record<string, unknown>>;
}

/** The problem, with options and arguments in the place of members. Options of `gannet call` are members themselves. */
export function inTypedWords(problem: Problem, command: TypedCommand): Problem {
  const { errors = [] } = problem;
  // Places are told of what a request says, and of nothing else.
  if (errors.length === 0 || command.options.some(({ long }) => long === '--param')) return problem;
  const told = errors.map((place) => toldPlace(place, command));
  const [first] = errors;
  const [only] = told;
  if (first === undefined || only === undefined) return problem;
  const { pointer, parameter } = first;
  const place = parameter ?? pointer ?? '';
  // What reads an option of a search knows its name, and not where it came from.
  const isPlaced = [place, memberOf(first)].some((named) => named !== '' && problem.detail.startsWith(`${named}: `));
  if (isPlaced) {
    const more = told.length > 1 ? ` (and ${told.length - 1} more)` : '';
    return { ...problem, detail: `${only.parameter}: ${only.detail}${more}`, errors: told };
  }
  const detail = inOptions(problem.detail, command);
  const isNamed = only.parameter === undefined || told.length > 1 || detail.includes(only.parameter);
  return { ...problem, detail: isNamed ? detail : `${only.parameter}: ${detail}`, errors: told };
}

/** The first part of a pointer, or the name of a parameter. */
function memberOf({ pointer, parameter }: ErrorPlace): string {
  return parameter ?? (pointer ?? '').split('/')[1] ?? '';
}

function toldPlace({ pointer, parameter, detail }: ErrorPlace, command: TypedCommand): ErrorPlace {
  const [member = '', ...within] = parameter === undefined ? (pointer ?? '').split('/').slice(1) : [parameter];
  const told = inOptions(detail, command);
  if (member === '') return { detail: told };
  return { parameter: `${typedName(member, command) ?? member}${withinText(within)}`, detail: told };
}

/** Items of an option are separated by commas; all else that has something in it is JSON. */
function withinText(within: readonly string[]): string {
  if (within.length === 0) return '';
  const [item = ''] = within;
  if (within.length === 1 && /^\d+$/.test(item)) return ` (number ${Number(item) + 1})`;
  return ` /${within.join('/')}`;
}

/** Members that the service names in its sentences (`namedMember`). */
function inOptions(text: string, command: TypedCommand): string {
  return text.replaceAll(/`(\w+)`/g, (whole, member: string) => typedName(member, command) ?? whole);
}

/** Undefined where the command has neither an option nor an argument of that name. */
function typedName(member: string, { options, registeredArguments }: TypedCommand): string | undefined {
  const word = member.replaceAll('_', '-');
  const asked = [OPTION_OF_MEMBER[member], `--${word}`, `--${word}-stdin`];
  const option = options.find(({ long }) => typeof long === 'string' && asked.includes(long));
  if (typeof option?.long === 'string') return option.long;
  return registeredArguments.some((argument) => argument.name() === word) ? `<${word}>` : undefined;
}

/** A sentence on what to do about what is not there; undefined where nothing is to be said. */
export function whatThereIs({ code }: Problem, command: TypedCommand): string | undefined {
  const listing = LISTED_BY[code] ?? (code === 'not-found' ? listingBeside(command) : undefined);
  if (listing === undefined) return undefined;
  const { account, store } = command.opts();
  const of = typeof account === 'string' && code !== 'account-not-found' ? ` --account ${account}` : '';
  const within = code === 'file-not-found' && typeof store === 'string' ? ` --store ${store}` : '';
  const shows = `\`${listing}${of}${within}\` shows all of them.`;
  const canMake = code === 'list-not-found' && command.options.some(({ long }) => long === '--create');
  return canMake ? `Add --create to create it with the fields of the first records. ${shows}` : shows;
}

/** `gannet model list`, of `gannet model show`. */
function listingBeside({ parent }: TypedCommand): string | undefined {
  const hasList = parent?.commands.some((each) => each.name() === 'list') === true;
  return hasList ? `gannet ${parent?.name() ?? ''} list` : undefined;
}
