import { Button, Drawer, Group, JsonInput, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import {
  searchResultCreate,
  searchResultDelete,
  searchResultRead,
  searchResultUpdate,
  type SearchResultReadOutput,
} from '../../service/client.js';
import { reading, useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Problem } from '../../ui/problem.js';
import { useListParams } from './list-frame.js';
import { RecordDocuments } from './record-documents.js';
import { RelatedRecords } from './related-records.js';

interface RecordEditorProps {
  /** Undefined: a new one. */
  readonly id: string | undefined;
  readonly onClose: () => void;
}

export function RecordEditor({ id, onClose }: RecordEditorProps) {
  const params = useListParams();
  const found = useQuery({
    ...reading(searchResultRead, { params: { ...params, id: id ?? '' } }),
    enabled: id !== undefined,
  });
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={id === undefined ? text.records.add : text.records.one}
      closeButtonProps={{ 'aria-label': text.common.close }}
    >
      <Problem error={found.error} />
      {id === undefined ? <RecordForm record={undefined} onDone={onClose} /> : null}
      {found.data === undefined ? null : (
        <>
          <RecordForm key={found.data.modified_utc} record={found.data} onDone={onClose} />
          <RecordDocuments key={found.data.id} record={found.data.name} />
          <RelatedRecords key={`like ${found.data.id}`} record={found.data.name} />
        </>
      )}
    </Drawer>
  );
}

interface RecordFormProps {
  readonly record: SearchResultReadOutput | undefined;
  readonly onDone: () => void;
}

const EXAMPLE = '{\n  "title": ""\n}';

function RecordForm({ record, onDone }: RecordFormProps) {
  const may = useMay();
  const { save, remove } = useRecordChanges(record);
  const [name, setName] = useState(record?.name ?? '');
  const [fields, setFields] = useState(() => (record === undefined ? EXAMPLE : JSON.stringify(record.fields, null, 2)));
  const [error, setError] = useState<unknown>(null);
  const mayWrite = may(record === undefined ? searchResultCreate : searchResultUpdate);
  const submit = async (): Promise<void> => {
    setError(null);
    try {
      await save(name, parsedFields(fields));
      onDone();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Stack>
        <TextInput
          label={text.records.name}
          description={text.records.nameHint}
          readOnly={!mayWrite}
          maxLength={512}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
          }}
        />
        <JsonInput
          label={text.records.fields}
          description={text.records.fieldsHint}
          readOnly={!mayWrite}
          autosize
          minRows={8}
          maxRows={24}
          value={fields}
          onChange={setFields}
        />
        {record === undefined ? null : (
          <Text size="xs" c="dimmed">
            {record.id}
          </Text>
        )}
        <Problem error={error} />
        <Group justify="space-between">
          {record !== undefined && may(searchResultDelete) ? (
            <ConfirmButton
              label={text.records.delete}
              question={text.records.deleteQuestion(record.name)}
              onConfirm={() => remove().then(onDone)}
              button={{ color: 'red', variant: 'light' }}
            />
          ) : (
            <span />
          )}
          {mayWrite ? <Button type="submit">{text.common.save}</Button> : null}
        </Group>
      </Stack>
    </form>
  );
}

type Fields = SearchResultReadOutput['fields'];

function useRecordChanges(record: SearchResultReadOutput | undefined) {
  const params = useListParams();
  const create = useChange(searchResultCreate);
  const update = useChange(searchResultUpdate);
  const remove = useChange(searchResultDelete);
  return {
    save: async (name: string, fields: Fields): Promise<void> => {
      const body = name === '' ? { fields } : { name, fields };
      if (record === undefined) await create.mutateAsync({ params, body });
      else await update.mutateAsync({ params: { ...params, id: record.id }, body });
    },
    remove: () => remove.mutateAsync({ params: { ...params, id: record?.id ?? '' } }),
  };
}

/** Throws with a sentence where it is no JSON object. */
function parsedFields(entry: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(entry);
  } catch (error) {
    throw new Error(text.records.notJson(error instanceof Error ? error.message : ''), { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(text.records.notObject);
  return value as Fields;
}
