/** What the words behind `gannet` ask for, before Commander reads them. */
import type { Command } from 'commander';

/** Where the command begins, behind the options of the program: those words and values that are no command. */
export function commandPlace(words: readonly string[]): number {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--config') at += 1;
    else if (!word.startsWith('-')) return at;
  }
  return words.length;
}

/**
 * The same words, where `help A B` is `A B --help`, of which Commander knows the first alone; and where a command that there is not is not asked
 * for its help, to which Commander answers with that of the one above, as if it had been meant.
 */
export function plainWords(words: readonly string[], program: Command): readonly string[] {
  const place = commandPlace(words);
  const isHelp = words[place] === 'help';
  const asked = isHelp ? [...words.slice(0, place), ...words.slice(place + 1), '--help'] : words;
  return isUnknown(asked.slice(place), program) ? asked.filter((word) => word !== '--help' && word !== '-h') : asked;
}

function isUnknown(words: readonly string[], program: Command): boolean {
  let command = program;
  for (const word of words) {
    if (word.startsWith('-') || command.commands.length === 0) return false;
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    // One with arguments of its own, such as `backup`, may be given any word.
    if (next === undefined) return command.registeredArguments.length === 0;
    command = next;
  }
  return false;
}
