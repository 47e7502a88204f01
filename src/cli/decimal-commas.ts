/**
 * Numbers as most of Europe writes them, in a table: `106,92`. They are taken as they stand, for text, and who imports prices so finds
 * neither a facet of numbers nor an order by them, and no word why.
 */
import { printable } from './output.js';

/** `1.234,5` as well. Three digits behind the comma may be thousands, and tell nothing of themselves. */
const NUMBER = /^[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?$/;
const DECIMAL = /,(?:\d{1,2}|\d{4,})$/;
/** Some lines of a table are always wrong. */
const SHARE_MIN = 0.9;

/**
 * Of the first records of a CSV file that was imported into the list; undefined where no field looks so. It says how the list gets a facet, too: one
 * whose fields were inferred of texts keeps them so, and numbers with a point would be as little to filter by as before.
 */
export function decimalCommaNote(records: readonly unknown[], list: string): string | undefined {
  const rows = records as readonly Readonly<Record<string, string>>[];
  const found = Object.keys(rows[0] ?? {}).flatMap((field) => {
    const values = rows.map((row) => row[field]?.trim() ?? '').filter((value) => value !== '');
    const numbers = values.filter((value) => NUMBER.test(value));
    const example = numbers.find((value) => DECIMAL.test(value));
    return example === undefined || numbers.length < values.length * SHARE_MIN ? [] : [{ field, example }];
  });
  const [first] = found;
  if (first === undefined) return undefined;
  const { example, field: firstField } = first;
  const fields = found.map(({ field }) => `'${printable(field)}'`).join(', ');
  const written = example.replaceAll('.', '').replace(',', '.');
  const name = /^[\w.-]+$/.test(firstField) ? firstField : `'${printable(firstField)}'`;
  return (
    `Numbers in ${fields} have a decimal comma (${example}), so they are imported as text. Write them with a point (${written}) to compare, sort and count them in ranges,` +
    ` in a new list, or in this one after gannet call facet.create --param list=${list} --param name=${name} --param type=number\n`
  );
}
