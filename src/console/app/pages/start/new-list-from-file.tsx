import { Alert, Button, Checkbox, Group, Progress, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { text } from '../../messages/index.js';
import { client, listCreate, listCreateSchemas } from '../../service/client.js';
import { useAccount } from '../../service/session.js';
import { shown } from '../../ui/format.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { definitionOf, FACET_TYPES, fieldChoices, type FieldChoice } from './field-choices.js';
import { readingOf, type FileReading } from './file-records.js';
import { listNameOf, sampleOf, type FileSample } from './file-sample.js';
import { ImportJob, NOTHING_IMPORTED, type ImportState } from './import-job.js';
import { ImportCounts } from './import-counts.js';
import { placeOf, RecordsWithin } from './records-within.js';
import { RecordNames } from './record-names.js';

interface NewListProps {
  readonly file: File;
  readonly onLeave: () => void;
}

/** Shows a file's fields, and creates a list from it. */
export function NewListFromFile({ file, onLeave }: NewListProps) {
  const sample = useQuery({
    queryKey: ['sample', file.name, file.size, file.lastModified],
    queryFn: async () => {
      const reading = await readingOf(file);
      if (reading === undefined) throw new Error(text.start.unknownFormat(file.name));
      return { reading, sample: await sampleOf(file, reading) };
    },
    retry: false,
  });
  return (
    <Page
      title={text.start.newList}
      lead={file.name}
      actions={
        <Button variant="default" onClick={onLeave}>
          {text.start.otherFile}
        </Button>
      }
    >
      <Problem error={sample.error} />
      {sample.data === undefined ? null : <NewList file={file} {...sample.data} />}
    </Page>
  );
}

interface NewListFormProps {
  readonly file: File;
  readonly reading: FileReading;
  readonly sample: FileSample;
}

function NewList({ file, reading, sample }: NewListFormProps) {
  const [name, setName] = useState(() => listNameOf(file.name));
  const [choices, setChoices] = useState<readonly FieldChoice[]>(() => fieldChoices(sample));
  const [nameFrom, setNameFrom] = useState(sample.nameless?.key ?? '');
  const making = useMaking(file, reading, nameFrom);
  const schema = listCreateSchemas.body.properties.name;
  const isName = new RegExp(schema.pattern).test(name);
  if (making.state !== undefined) return <Importing {...making} state={making.state} file={file} reading={reading} />;
  return (
    <form
      aria-label={text.start.newList}
      onSubmit={(event) => {
        event.preventDefault();
        if (isName) void making.make({ name, ...definitionOf(choices, sample) });
      }}
    >
      <Stack>
        <TextInput
          label={text.lists.name}
          description={text.lists.nameHint}
          error={name === '' || isName ? undefined : text.lists.nameWrong}
          required
          maxLength={64}
          maw={420}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
          }}
        />
        <RecordsWithin reading={reading} />
        <Text>{text.start.fieldsLead}</Text>
        <Choices choices={choices} onChange={setChoices} />
        {sample.nameless === undefined ? null : (
          <RecordNames nameless={sample.nameless} value={nameFrom} onChange={setNameFrom} />
        )}
        <Problem error={making.error} />
        <Group>
          <Button type="submit" loading={making.busy}>
            {text.start.make}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface ChoicesProps {
  readonly choices: readonly FieldChoice[];
  readonly onChange: (choices: readonly FieldChoice[]) => void;
}

function Choices({ choices, onChange }: ChoicesProps) {
  const set = (name: string, change: Partial<FieldChoice>): void => {
    onChange(choices.map((choice) => (choice.name === name ? { ...choice, ...change } : choice)));
  };
  return (
    <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{text.fields.field}</Table.Th>
            <Table.Th>{text.fields.example}</Table.Th>
            <Table.Th>{text.fields.searched}</Table.Th>
            <Table.Th>{text.fields.filtered}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {choices.map((choice) => (
            <ChoiceRow
              key={choice.name}
              choice={choice}
              onChange={(change) => {
                set(choice.name, change);
              }}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface ChoiceRowProps {
  readonly choice: FieldChoice;
  readonly onChange: (change: Partial<FieldChoice>) => void;
}

function ChoiceRow({ choice, onChange }: ChoiceRowProps) {
  const { name, example, searchable, facet, special } = choice;
  return (
    <Table.Tr>
      <Table.Th scope="row">{name}</Table.Th>
      <Table.Td>
        <Text size="sm" lineClamp={1} maw={320}>
          {shown(example)}
        </Text>
      </Table.Td>
      {special === undefined ? (
        <>
          <Table.Td>
            <Checkbox
              aria-label={text.fields.searchedOf(name)}
              checked={searchable}
              onChange={(event) => {
                onChange({ searchable: event.currentTarget.checked });
              }}
            />
          </Table.Td>
          <Table.Td>
            <Select
              aria-label={text.fields.filteredOf(name)}
              data={FACET_TYPES}
              value={facet}
              allowDeselect={false}
              maw={180}
              onChange={(value) => {
                onChange({ facet: value ?? '' });
              }}
            />
          </Table.Td>
        </>
      ) : (
        <Table.Td colSpan={2}>{special}</Table.Td>
      )}
    </Table.Tr>
  );
}

interface Making {
  readonly busy: boolean;
  readonly error: unknown;
  readonly state: ImportState | undefined;
  readonly list: string;
  readonly make: (definition: Parameters<typeof listCreate>[1]['body']) => Promise<void>;
  readonly goOn: () => Promise<void>;
  readonly stop: () => void;
}

/** Creates the list and imports the file. */
function useMaking(file: File, reading: FileReading, nameFrom: string): Making {
  const account = useAccount();
  const cache = useQueryClient();
  const job = useRef<ImportJob>(undefined);
  const [list, setList] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [state, setState] = useState<ImportState>();
  const toSearch = useToSearch();
  // Stops the import when the page is left.
  useEffect(() => () => job.current?.stop(), []);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setError(null);
    await work().catch(setError);
    setBusy(false);
  };
  const goOn = (): Promise<void> =>
    attempt(async () => {
      const done = await job.current?.run();
      await cache.invalidateQueries();
      // In a new list, no record should have replaced another; if one did, the naming field is probably not unique, and
      // the page stays to say so.
      if (done?.failed === 0 && done.replaced === 0) await toSearch(job.current?.list ?? '');
    });
  return {
    busy,
    error,
    state,
    list,
    goOn,
    stop: () => job.current?.stop(),
    make: (definition) =>
      attempt(async () => {
        await listCreate(client, { params: { account }, body: definition });
        setList(definition.name);
        setState(NOTHING_IMPORTED);
        const target = { account, list: definition.name };
        job.current = new ImportJob({ file, reading, target, nameFrom, onState: setState });
        await goOn();
      }),
  };
}

function useToSearch(): (list: string) => Promise<void> {
  const account = useAccount();
  const navigate = useNavigate();
  return (list) => navigate({ to: '/$account/list/$list/search', params: { account, list } });
}

interface ImportingProps extends Making {
  readonly reading: FileReading;
  readonly state: ImportState;
  readonly file: File;
}

function Importing({ state, file, reading, list, busy, error, goOn, stop }: ImportingProps) {
  const toSearch = useToSearch();
  const { bytesRead, failures } = state;
  const percent = file.size === 0 ? 100 : (100 * bytesRead) / file.size;
  return (
    <Stack>
      <Progress value={percent} aria-label={text.start.progress} animated={busy} size="lg" />
      <ImportCounts state={state} />
      <Problem error={error} onRetry={() => void goOn()} />
      {failures.length === 0 ? null : (
        <Alert color="orange" title={text.start.someFailed}>
          <Table>
            <Table.Tbody>
              {failures.map(({ line, name, detail }, index) => (
                <Table.Tr key={index}>
                  <Table.Td>{name ?? placeOf(line, reading)}</Table.Td>
                  <Table.Td>{detail}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Alert>
      )}
      <Group>
        {busy ? (
          <Button variant="default" onClick={stop}>
            {text.start.stop}
          </Button>
        ) : (
          <Button onClick={() => void toSearch(list)}>{text.start.toSearch}</Button>
        )}
      </Group>
    </Stack>
  );
}
