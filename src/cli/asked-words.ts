/** Examines the words after `gannet` before Commander parses them. */
import type { Command } from 'commander';

/** Returns where the command begins, after options of the program and their values. */
export function commandPlace(words: readonly string[]): number {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--config') at += 1;
    else if (!word.startsWith('-')) return at;
  }
  return words.length;
}

/**
 * Rewrites words that Commander handles badly: `help A B` becomes `A B --help`, and `--help` is removed from an unknown
 * command, for which Commander would print the help of the command above.
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
    // A command with arguments of its own, such as `backup`, may be followed by any word.
    if (next === undefined) return command.registeredArguments.length === 0;
    command = next;
  }
  return false;
}
