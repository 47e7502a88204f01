import { writeJson, type CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { formatCount, printable, table } from '../output.js';
import { membersOf } from '../answers.js';
import { refusedListWords } from '../list-words.js';
import { readListing } from '../listing.js';

export interface ListResource {
  readonly name: string;
  readonly record_count: number;
  readonly current_version: number;
  readonly language: string;
  readonly searchable_fields: readonly { readonly name: string }[];
  readonly facets: readonly { readonly name: string; readonly cardinality: string }[];
}

/** A list that the service cannot describe, with the reason. */
export interface UnavailableList {
  readonly name: string;
  readonly code: string;
  readonly detail: string;
}

export async function listLists(
  context: CommandContext,
  words: readonly string[],
  options: { readonly account?: string; readonly json?: boolean },
): Promise<ExitStatus> {
  if (words.length > 0) throw new CommandError(refusedListWords(words), EXIT.usage);
  const account = options.account ?? context.config.account.name;
  const answer = await context.withData((client) => readListing(client, 'list.list', { account }));
  const lists = membersOf<ListResource>(answer, 'lists');
  const unavailable = membersOf<UnavailableList>(answer, 'unavailable');
  if (options.json === true) {
    writeJson(context.output, answer);
  } else if (lists.length === 0) {
    if (unavailable.length === 0)
      context.output.write(
        `The account ${account} has no lists. Create one with gannet import FILE --list NAME --create.\n`,
      );
  } else {
    const rows = lists.map((list) => [
      list.name,
      formatCount(list.record_count),
      String(list.current_version),
      list.language,
      printable(list.searchable_fields.map(({ name }) => name).join(', ')),
    ]);
    context.output.write(table([['LIST', 'RECORDS', 'VERSION', 'LANGUAGE', 'SEARCHABLE FIELDS'], ...rows]));
  }
  for (const { name, detail } of unavailable) context.output.note(`${name} is unavailable: ${detail}\n`);
  return EXIT.done;
}
