/** Comments of settings, which say what each of them means. */
import { readFileSync } from 'node:fs';
import type { SettingsSection } from './settings.js';

/** Returns the comments of the settings in this TOML file, and of those that features declare, by `section.name`. */
export function settingComments(file: string, declared: readonly SettingsSection[]): ReadonlyMap<string, string> {
  const ofFeatures = declared.flatMap(({ section, members }) =>
    Object.entries(members).map(([name, { comment }]) => [`${section}.${name}`, comment] as const),
  );
  return new Map([...commentsIn(readFileSync(file, 'utf8')), ...ofFeatures]);
}

/** A setting has the comment above it, which it may share with settings directly above. */
function commentsIn(toml: string): ReadonlyMap<string, string> {
  const comments = new Map<string, string>();
  let section = '';
  let lines: string[] = [];
  let isOpen = false;
  for (const line of toml.split('\n')) {
    const [, words] = /^#\s?(.*)$/.exec(line) ?? [];
    const [, name] = /^(\w+) = /.exec(line) ?? [];
    section = /^\[(\w+)\]/.exec(line)?.[1] ?? section;
    if (words !== undefined) lines = isOpen ? [...lines, words.trim()] : [words.trim()];
    else if (name === undefined) lines = [];
    else comments.set(`${section}.${name}`, lines.join(' '));
    isOpen = words !== undefined;
  }
  return comments;
}
