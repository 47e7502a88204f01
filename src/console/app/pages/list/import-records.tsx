import { Button, Group, Modal, Progress, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { text } from '../../messages/index.js';
import { count } from '../../ui/format.js';
import { Problem } from '../../ui/problem.js';
import { CONTENT_TYPES, formatOfFile, type FileFormat } from '../start/file-records.js';
import { ImportJob, type ImportState } from '../start/import-job.js';
import { useListParams } from './list-frame.js';

const NOTHING_YET: ImportState = { bytesRead: 0, written: 0, failed: 0, failures: [] };

const isFormat = (value: unknown): value is FileFormat => typeof value === 'string' && value in CONTENT_TYPES;

/** The file that is being imported, and how far it is. */
function useImport() {
  const target = useListParams();
  const cache = useQueryClient();
  const job = useRef<ImportJob>(undefined);
  const chosenLast = useRef<File>(undefined);
  const [file, setFile] = useState<File>();
  const [state, setState] = useState(NOTHING_YET);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    await job.current?.run().then(() => undefined, setError);
    setBusy(false);
    await cache.invalidateQueries();
  };
  const take = async (chosen: File): Promise<void> => {
    setFile(chosen);
    setState(NOTHING_YET);
    setError(null);
    chosenLast.current = chosen;
    const format = await formatOfFile(chosen).catch((reason: unknown) => reason);
    // Closed meanwhile, or another one was chosen.
    if (chosenLast.current !== chosen) return;
    if (!isFormat(format)) {
      setError(format ?? new Error(text.start.unknownFormat(chosen.name)));
      return;
    }
    job.current = new ImportJob({ file: chosen, format, target, onState: setState });
    void run();
  };
  const close = (): void => {
    chosenLast.current = undefined;
    job.current?.stop();
    setFile(undefined);
  };
  return { file, state, busy, error, run, take, close };
}

/** Adds the records of a file to a list that is there. */
export function ImportButton() {
  const input = useRef<HTMLInputElement>(null);
  const { file, state, busy, error, run, take, close } = useImport();
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
        <Stack>
          <Progress
            value={file === undefined || file.size === 0 ? 0 : (100 * state.bytesRead) / file.size}
            aria-label={text.start.progress}
            animated={busy}
          />
          <Text role="status">{text.start.imported(count(state.written), count(state.failed))}</Text>
          {state.failures.slice(0, 20).map(({ line, name, detail }, index) => (
            <Text key={index} size="sm">
              {name ?? text.start.line(line)}: {detail}
            </Text>
          ))}
          <Problem error={error} onRetry={() => void run()} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {busy ? text.start.stop : text.common.close}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
