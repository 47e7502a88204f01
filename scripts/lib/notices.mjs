/**
 * Collects the licences and notices of packages whose code or tables are bundled into our files, as their licences require. Otherwise an
 * image without the packages, or the build folder alone, would lack them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const NOTICE = /^(?:licen[cs]e|notice|copying|third[-_]party)/i;
const RULE = '='.repeat(80);

/** Returns the notices of all packages with modules in `output`, a build of Rolldown, by name and each with its own texts. */
export function noticesOf(output) {
  const modules = output.flatMap(({ moduleIds = [] }) => moduleIds).map((id) => id.replaceAll('\\', '/'));
  const folders = new Set(modules.flatMap((id) => PACKAGE.exec(id)?.slice(1, 2) ?? []));
  return [...folders].sort().map(noticeOf).join('\n');
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && NOTICE.test(entry.name))
    .map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim())
    .sort();
  const title = `${name} ${version}${typeof license === 'string' ? ` (${license})` : ''}`;
  return `${RULE}\n${title}\n\n${texts.join('\n\n')}\n`;
}
