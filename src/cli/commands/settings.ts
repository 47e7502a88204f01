/** `gannet settings`: every setting, those that features declare among them, as a file that can be changed and given back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES } from '../../features.js';
import { environmentName } from '../../platform/config.js';
import { packageRoot, type SettingsSection } from '../../platform/index.js';
import type { CommandContext } from '../command-context.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';

/** Where the name of the variable stands, as in config/default.toml. */
const VARIABLE_COLUMN = 35;
/** Of a line of a comment, as there. */
const COMMENT_COLUMNS = 132;

export function settings({ output }: CommandContext): ExitStatus {
  output.write(readFileSync(join(packageRoot(), 'config', 'default.toml'), 'utf8'));
  for (const { settings: section } of FEATURES) if (section !== undefined) output.write(sectionText(section));
  return EXIT.done;
}

/** A section as TOML, with what each setting means. */
function sectionText({ section, members }: SettingsSection): string {
  const lines = Object.entries(members).flatMap(([name, { default: value, comment }]) => {
    const setting = `${name} = ${JSON.stringify(value)}`;
    return [
      ...commentLines(comment),
      `${setting.padEnd(VARIABLE_COLUMN - 1)} # ${environmentName(`${section}.${name}`)}`,
    ];
  });
  return `\n[${section}]\n${lines.join('\n')}\n`;
}

function commentLines(comment: string): string[] {
  const lines = ['#'];
  for (const word of comment.split(' ')) {
    const line = `${lines.at(-1) ?? ''} ${word}`;
    if (line.length <= COMMENT_COLUMNS) lines[lines.length - 1] = line;
    else lines.push(`# ${word}`);
  }
  return lines;
}
