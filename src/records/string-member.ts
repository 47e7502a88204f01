/**
 * Reads one field of a record without the others: parsing takes time proportional to the size of the record, and a
 * search needs only one link of each hit. Pure.
 */
import { parseFields } from './record-codec.js';

const QUOTE = '"';
const ESCAPE = '\\';
/**
 * Names for which the fast search is safe. Others may seem to occur where a string ends: `{"a,":1,":":"x"}` seems to
 * have a member `:1,` with a string value.
 */
const PLAIN_NAME = /^[\p{L}\p{N}_]/u;

/**
 * Returns the value of a field in the JSON of a record's fields; undefined if it is missing or not a string. Throws a
 * DamagedRecordError for invalid JSON, as far as it is read.
 */
export function stringField(fieldsJson: string, name: string): string | undefined {
  const key = `${JSON.stringify(name)}:"`;
  // A quote within a string is escaped, so this is a member. If a name is repeated, the last one counts.
  const found = PLAIN_NAME.test(name) ? fieldsJson.lastIndexOf(key) : -1;
  const before = fieldsJson[found - 1];
  const begin = found + key.length;
  const end = fieldsJson.indexOf(QUOTE, begin);
  const isMember = found > 0 && end > 0 && (before === ',' || before === '{');
  const value = isMember ? fieldsJson.slice(begin, end) : ESCAPE;
  if (!value.includes(ESCAPE)) return value;
  const parsed = parseFields(fieldsJson);
  const member = Object.hasOwn(parsed, name) ? parsed[name] : undefined;
  return typeof member === 'string' ? member : undefined;
}
