/**
 * Prints the sizes of the product's files, and what each example of test/seams costs: files, rows in other files, lines.
 *
 *   node scripts/shape.mjs
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const linesOf = (path) => readFileSync(join(root, path), 'utf8').trimEnd().split('\n').length;
const filesIn = (folder, ending) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));

function row(name, paths) {
  const lengths = paths.map(linesOf).sort((left, right) => left - right);
  const longest = paths.find((path) => linesOf(path) === lengths.at(-1));
  console.log(`| ${name} | ${paths.length} | ${lengths[lengths.length >> 1]} | ${lengths.at(-1)} (${longest}) |`);
}

console.log('| Files | count | median lines | longest, with comments and blanks |\n|---|---|---|---|');
row('src', filesIn('src', /(?<!\.test)\.tsx?$/));
row(
  'kernel',
  ['kernel', 'addon'].flatMap((folder) => filesIn(`native-bindings/${folder}`, /\.(?:cc|h)$/)),
);

/** @type {[string, readonly string[], string][]} name, files, and where they are documented */
const EXAMPLES = [
  ['a kind of field', ['duration-kind.ts'], 'src/fields/field-kinds.ts'],
  ['an option of a search', ['only-with-option.ts'], 'src/search/options/search-options.ts'],
  ['a worker', ['echo/echo.worker.ts', 'echo/echo-protocol.ts'], 'none: its feature starts it'],
  ['a feature', readdirSync(join(root, 'test/seams/examples/echo')).map((name) => `echo/${name}`), 'src/features.ts'],
];
console.log('\n| Example | files | lines | row in |\n|---|---|---|---|');
for (const [name, files, place] of EXAMPLES) {
  const lines = files.reduce((sum, file) => sum + linesOf(join('test/seams/examples', file)), 0);
  console.log(`| ${name} | ${files.length} | ${lines} | ${place} |`);
}
const source = filesIn('native-bindings/test', /source.*\.cc$/).map((path) => `${path} (${linesOf(path)})`);
console.log(`| a source of scores | | | ${source.join(', ')} |`);
