import { Text } from '@mantine/core';
import { memberName } from '../../../../records/json-records.js';
import { text } from '../../messages/index.js';
import type { FileReading } from './file-records.js';

/** Path of the records in the file, if they are not at the top. */
export function RecordsWithin({ reading: { path } }: { readonly reading: FileReading }) {
  return path.length === 0 ? null : <Text>{text.start.recordsWithin(memberName(path))}</Text>;
}

/** Returns the place of a record without a name. */
export function placeOf(line: number, { format }: FileReading): string {
  return format === 'json' ? text.start.record(line) : text.start.line(line);
}
