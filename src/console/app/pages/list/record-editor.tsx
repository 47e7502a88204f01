import { Alert, Button, Drawer, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { parseExactJson } from '../../../../platform/exact-json.js';
import { text } from '../../messages/index.js';
import {
  searchResultCreate,
  client,
  searchResultDelete,
  searchResultPatch,
  searchResultRead,
  searchResultUpdate,
  type SearchResultReadOutput,
} from '../../service/client.js';
import { reading, useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { useFocusReturned } from '../../ui/focus.js';
import { JsonEditor } from '../../ui/json-editor.js';
import { Problem } from '../../ui/problem.js';
import { saveFile } from '../../ui/save-file.js';
import { useList, useListParams, type List } from './list-frame.js';
import { RecordDocuments } from './record-documents.js';
import { RelatedRecords } from './related-records.js';

/** Keeps answers below a megabyte: longer fields are named instead, and stay unchanged. */
const ROOM = { fields_bytes_max: 500_000 };

interface RecordEditorProps {
  /** Undefined for a new record. */
  readonly id: string | undefined;
  readonly onClose: () => void;
}

export function RecordEditor({ id, onClose }: RecordEditorProps) {
  useFocusReturned();
  const params = useListParams();
  const found = useQuery({ ...readingOf(params, id ?? ''), enabled: id !== undefined });
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
          <RecordForm key={found.data.id} record={found.data} onDone={onClose} />
          <RecordDocuments key={found.data.id} record={found.data.name} />
          <RelatedRecords key={`like ${found.data.id}`} record={found.data.name} />
        </>
      )}
    </Drawer>
  );
}

const readingOf = (params: ReturnType<typeof useListParams>, id: string) =>
  reading(searchResultRead, { params: { ...params, id }, query: ROOM });

interface RecordFormProps {
  /** Current state of the record. Undefined for a new one. */
  readonly record: SearchResultReadOutput | undefined;
  readonly onDone: () => void;
}

const FIELDS_BEGUN_MAX = 12;
const IDLE = { isBusy: false, error: null };

/** Returns the list's known fields to fill in: an empty text for searchable fields, null (no value) for others. */
function begun({ searchable_fields, facets }: List): string {
  const texts = searchable_fields.map(({ name }) => [name, '']);
  const others = facets
    .filter(({ name }) => searchable_fields.every((each) => each.name !== name))
    .map(({ name }) => [name, null]);
  const known = [...texts, ...others].slice(0, FIELDS_BEGUN_MAX);
  return JSON.stringify(known.length === 0 ? { title: '' } : Object.fromEntries(known), null, 2);
}

/**
 * Edits of a record that somebody else may change meanwhile. Without edits, the form shows the new state; with edits,
 * it asks.
 */
function useTyped(record: SearchResultReadOutput | undefined) {
  const list = useList();
  const shownOf = (shown: SearchResultReadOutput | undefined) => ({
    /** Resets the editor of fields, which otherwise keeps its initial value. */
    over: shown?.modified_utc,
    name: shown?.name ?? '',
    fields: shown === undefined ? begun(list) : JSON.stringify(shown.fields, null, 2),
  });
  const [{ was, typed }, setState] = useState(() => ({ was: shownOf(record), typed: shownOf(record) }));
  const take = (): void => {
    setState({ was: shownOf(record), typed: shownOf(record) });
  };
  const isBehind = record !== undefined && record.modified_utc !== was.over;
  const hasTyped = typed.name !== was.name || typed.fields !== was.fields;
  if (isBehind && !hasTyped) take();
  return {
    ...typed,
    isBehind: isBehind && hasTyped,
    /** True if the edits are based on this modification. */
    isOver: (modified: string) => modified === was.over,
    set: (change: { readonly name?: string; readonly fields?: string }) => {
      setState((before) => ({ ...before, typed: { ...before.typed, ...change } }));
    },
    take,
    keep: () => {
      setState({ was: shownOf(record), typed });
    },
  };
}

function RecordForm({ record, onDone }: RecordFormProps) {
  const may = useMay();
  const { save, readAnew, remove } = useRecordChanges(record);
  const { over, name, fields, isBehind, isOver, set, take, keep } = useTyped(record);
  const mayWrite = may(record === undefined ? searchResultCreate : searchResultUpdate);
  const { isBusy, error, submit } = useSubmit(async () => {
    const parsed = parsedFields(fields);
    const now = await readAnew();
    if (now !== undefined && !isOver(now.modified_utc)) return;
    await save(name, parsed);
    onDone();
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack>
        <TextInput
          label={text.records.name}
          description={text.records.nameHint}
          data-autofocus={record === undefined || undefined}
          readOnly={!mayWrite}
          maxLength={512}
          value={name}
          onChange={(event) => {
            set({ name: event.currentTarget.value });
          }}
        />
        <JsonEditor
          key={over}
          label={text.records.fields}
          description={text.records.fieldsHint}
          isReadOnly={!mayWrite}
          value={fields}
          onChange={(entry) => {
            set({ fields: entry });
          }}
        />
        {record?.fields_left_out === undefined ? null : <LeftOut record={record} names={record.fields_left_out} />}
        {record === undefined ? null : (
          <Text size="xs" c="dimmed">
            {record.id}
          </Text>
        )}
        <Problem error={error} />
        {isBehind && !isBusy ? <ChangedMeanwhile onTake={take} onKeep={keep} /> : null}
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
          {mayWrite ? (
            <Button type="submit" loading={isBusy} disabled={isBehind}>
              {record === undefined ? text.records.add : text.common.save}
            </Button>
          ) : null}
        </Group>
      </Stack>
    </form>
  );
}

/** Prevents a second submit while one is in progress. */
function useSubmit(work: () => Promise<void>) {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly error: unknown }>(IDLE);
  const submit = (): void => {
    setState({ isBusy: true, error: null });
    work().then(
      () => {
        setState(IDLE);
      },
      (error: unknown) => {
        setState({ isBusy: false, error });
      },
    );
  };
  return { ...state, submit };
}

interface ChangedMeanwhileProps {
  readonly onTake: () => void;
  readonly onKeep: () => void;
}

/** Keeps what was typed, and overwrites changes of others only if the person wants to. */
function ChangedMeanwhile({ onTake, onKeep }: ChangedMeanwhileProps) {
  return (
    <Alert color="orange" role="alert" title={text.records.changed}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{text.records.changedHint}</Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={onKeep}>
            {text.records.keepTyped}
          </Button>
          <Button size="xs" variant="default" onClick={onTake}>
            {text.records.takeChange}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

interface LeftOutProps {
  readonly record: SearchResultReadOutput;
  readonly names: readonly string[];
}

/** Lists fields too long to be shown, with a link to them. */
function LeftOut({ record: { id, name }, names }: LeftOutProps) {
  const params = useListParams();
  const load = useMutation({
    mutationFn: async () => {
      const whole = await searchResultRead(client, { params: { ...params, id } });
      saveFile(new Blob([JSON.stringify(whole, null, 2)], { type: 'application/json' }), `${name}.json`);
    },
  });
  return (
    <Alert color="blue" title={text.records.leftOut(names.join(', '))}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{text.records.leftOutHint}</Text>
        <Button
          size="xs"
          variant="default"
          loading={load.isPending}
          onClick={() => {
            load.mutate();
          }}
        >
          {text.records.download}
        </Button>
        <Problem error={load.error} />
      </Stack>
    </Alert>
  );
}

type Fields = SearchResultReadOutput['fields'];

function useRecordChanges(record: SearchResultReadOutput | undefined) {
  const params = useListParams();
  const create = useChange(searchResultCreate);
  const update = useChange(searchResultUpdate);
  const patch = useChange(searchResultPatch);
  const remove = useChange(searchResultDelete);
  const cache = useQueryClient();
  return {
    /** Undefined for a new record. */
    readAnew: async () =>
      record === undefined ? undefined : cache.fetchQuery({ ...readingOf(params, record.id), staleTime: 0 }),
    save: async (name: string, fields: Fields): Promise<void> => {
      const body = name === '' ? { fields } : { name, fields };
      if (record === undefined) {
        await create.mutateAsync({ params, body });
        return;
      }
      const input = { params: { ...params, id: record.id }, body };
      if (record.fields_left_out === undefined) {
        await update.mutateAsync(input);
        return;
      }
      // Fields that are not shown stay; shown fields that were removed are deleted.
      const gone = Object.keys(record.fields).filter((field) => !(field in fields));
      const changed = { ...fields, ...Object.fromEntries(gone.map((field) => [field, null])) };
      await patch.mutateAsync({ ...input, query: ROOM, body: { ...body, fields: changed } });
    },
    remove: () => remove.mutateAsync({ params: { ...params, id: record?.id ?? '' } }),
  };
}

/** Throws with a message if the text is no JSON object. */
function parsedFields(entry: string): Fields {
  let value: unknown;
  try {
    value = parseExactJson(entry);
  } catch (error) {
    throw new Error(text.records.notJson(error instanceof Error ? error.message : ''), { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(text.records.notObject);
  return value as Fields;
}
