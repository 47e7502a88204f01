/** `gannet settings`: prints every setting, including those of features, as a file that can be edited and used. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES } from '../../features.js';
import { environmentName } from '../../platform/config.js';
import { packageRoot, type SettingsSection } from '../../platform/index.js';
import type { CommandContext } from '../command-context.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';

/** Column of the variable's name, as in config/default.toml. */
const VARIABLE_COLUMN = 35;
/** Width of comment lines, as in that file. */
const COMMENT_COLUMNS = 132;

export function settings({ output }: CommandContext): ExitStatus {
  output.write(readFileSync(join(packageRoot(), 'config', 'default.toml'), 'utf8'));
  for (const { settings: section } of FEATURES) if (section !== undefined) output.write(sectionText(section));
  return EXIT.done;
}

/** Formats a section as TOML, with the description of each setting. */
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
