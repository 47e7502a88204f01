import { Button, Group, Modal, Progress, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { text } from '../../messages/index.js';
import { Problem } from '../../ui/problem.js';
import { readingOf, type FileReading } from '../start/file-records.js';
import { sampleOf, type NamelessSample } from '../start/file-sample.js';
import { ImportCounts } from '../start/import-counts.js';
import { ImportJob, NOTHING_IMPORTED } from '../start/import-job.js';
import { RecordNames } from '../start/record-names.js';
import { placeOf, RecordsWithin } from '../start/records-within.js';
import { useListParams } from './list-frame.js';

/** What the person has to decide before the import. */
interface Asked {
  readonly nameless: NamelessSample;
  readonly begin: (nameFrom: string) => void;
}

/** State of the import of a file. */
function useImport() {
  const target = useListParams();
  const cache = useQueryClient();
  const job = useRef<ImportJob>(undefined);
  const chosenLast = useRef<File>(undefined);
  const [file, setFile] = useState<File>();
  const [reading, setReading] = useState<FileReading>();
  const [state, setState] = useState(NOTHING_IMPORTED);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [asked, setAsked] = useState<Asked>();
  const run = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    await job.current?.run().then(() => undefined, setError);
    setBusy(false);
    await cache.invalidateQueries();
  };
  const take = async (chosen: File): Promise<void> => {
    setFile(chosen);
    setState(NOTHING_IMPORTED);
    setReading(undefined);
    setError(null);
    setAsked(undefined);
    chosenLast.current = chosen;
    const read = await readingOf(chosen).catch((reason: unknown) => ({ reason }));
    // The dialog was closed, or another file chosen.
    if (chosenLast.current !== chosen) return;
    if (read === undefined || 'reason' in read) {
      setError(read?.reason ?? new Error(text.start.unknownFormat(chosen.name)));
      return;
    }
    setReading(read);
    // If the file does not match its format, the service reports what is wrong.
    const nameless = await sampleOf(chosen, read).then(
      (sample) => sample.nameless,
      () => undefined,
    );
    if (chosenLast.current !== chosen) return;
    const begin = (nameFrom: string): void => {
      setAsked(undefined);
      job.current = new ImportJob({ file: chosen, reading: read, target, nameFrom, onState: setState });
      void run();
    };
    if (nameless === undefined) begin('');
    else setAsked({ nameless, begin });
  };
  const close = (): void => {
    chosenLast.current = undefined;
    job.current?.stop();
    setFile(undefined);
  };
  return { file, reading, state, busy, error, asked, run, take, close };
}

/** Adds the records of a file to an existing list. */
export function ImportButton() {
  const input = useRef<HTMLInputElement>(null);
  const { file, reading, state, busy, error, asked, run, take, close } = useImport();
  return (
    <>
      <Button variant="default" size="xs" onClick={() => input.current?.click()}>
        {text.records.import}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".csv,.tsv,.json,.ndjson,.jsonl"
        hidden
        aria-label={text.records.import}
        onChange={({ currentTarget }) => {
          const chosen = currentTarget.files?.item(0);
          if (chosen !== null && chosen !== undefined) void take(chosen);
          currentTarget.value = '';
        }}
      />
      <Modal
        opened={file !== undefined}
        onClose={close}
        title={text.records.importing(file?.name ?? '')}
        closeButtonProps={{ 'aria-label': text.common.close }}
      >
        {reading === undefined ? null : <RecordsWithin reading={reading} />}
        {asked === undefined ? (
          <Stack>
            <Progress
              value={file === undefined || file.size === 0 ? 0 : (100 * state.bytesRead) / file.size}
              aria-label={text.start.progress}
              animated={busy}
            />
            <ImportCounts state={state} />
            {state.failures.slice(0, 20).map(({ line, name, detail }, index) => (
              <Text key={index} size="sm">
                {name ?? (reading === undefined ? '' : placeOf(line, reading))}: {detail}
              </Text>
            ))}
            <Problem error={error} onRetry={() => void run()} />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {busy ? text.start.stop : text.common.close}
              </Button>
            </Group>
          </Stack>
        ) : (
          <NamesFirst {...asked} onCancel={close} />
        )}
      </Modal>
    </>
  );
}

function NamesFirst({ nameless, begin, onCancel }: Asked & { readonly onCancel: () => void }) {
  const [nameFrom, setNameFrom] = useState(nameless.key);
  return (
    <Stack>
      <Text size="sm">{text.records.nameless}</Text>
      <RecordNames nameless={nameless} value={nameFrom} onChange={setNameFrom} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onCancel}>
          {text.common.cancel}
        </Button>
        <Button
          onClick={() => {
            begin(nameFrom);
          }}
        >
          {text.records.beginImport}
        </Button>
      </Group>
    </Stack>
  );
}
