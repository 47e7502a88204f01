/**
 * Detects numbers with decimal commas, such as `106,92`, in tables. They are imported as text, so that prices would get
 * neither a numeric facet nor a numeric order, without any explanation.
 */
import { printable } from './output.js';

/** Also matches `1.234,5`. Three digits after the comma may be thousands, and prove nothing. */
const NUMBER = /^[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?$/;
const DECIMAL = /,(?:\d{1,2}|\d{4,})$/;
/** A table may have some invalid lines. */
const SHARE_MIN = 0.9;

/**
 * Returns a note about the first records of an imported CSV file. Undefined if no field has such numbers. It also says
 * how to get a facet: a list whose fields were inferred from texts would not filter by corrected numbers either.
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
