import { Select } from '@mantine/core';
import { text } from '../../messages/index.js';
import type { NamelessSample } from './file-sample.js';

interface RecordNamesProps {
  readonly nameless: NamelessSample;
  readonly value: string;
  readonly onChange: (nameFrom: string) => void;
}

/** Choice of the field that names records without a name, so that importing the file again does not duplicate them. */
export function RecordNames({ nameless, value, onChange }: RecordNamesProps) {
  return (
    <Select
      label={text.start.namedBy}
      description={text.start.namedByHint}
      data={[
        { value: '', label: text.start.namedByNothing },
        ...nameless.fields.map((name) => ({ value: name, label: name })),
      ]}
      value={value}
      allowDeselect={false}
      searchable={nameless.fields.length > 8}
      maw={420}
      onChange={(chosen) => {
        onChange(chosen ?? '');
      }}
    />
  );
}
