import { Anchor, Button, FileButton, Group, Image, Modal, Stack, Text, TextInput } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { text } from '../../messages/index.js';
import {
  client,
  mediaDelete,
  mediaList,
  mediaRead,
  mediaUpload,
  targetOf,
  type MediaListOutput,
} from '../../service/client.js';
import { useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { columnHelper, DataTable, Wrapped } from '../../ui/data-table.js';
import { Empty } from '../../ui/empty.js';
import { bytes } from '../../ui/format.js';
import { useFormPlace } from '../../ui/form-modal.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { useTextInAddress } from '../../ui/text-in-address.js';
import { WhenCell } from '../../ui/when.js';
import { PICTURE_TYPES } from '../search/picture.js';

type File = MediaListOutput['files'][number];

const SIZE = 100;
const BYTES_TYPE = 'application/octet-stream';

function useStore(): { readonly account: string; readonly store: string } {
  const { account = '', store = '' } = useParams({ strict: false });
  return { account, store };
}

/** Files of a store, sorted by path. */
export function MediaFiles() {
  const params = useStore();
  const may = useMay();
  const [prefix, setPrefix] = useTextInAddress('prefix');
  const found = useInfiniteQuery({
    queryKey: [mediaList.route.name, params, prefix],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => {
      const query = {
        size: SIZE,
        ...(prefix === '' ? {} : { prefix }),
        ...(pageParam === '' ? {} : { after: pageParam }),
      };
      return mediaList(client, { params, query }, { signal });
    },
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  });
  const pages = found.data?.pages;
  const files = useMemo(() => pages?.flatMap((page) => page.files) ?? [], [pages]);
  return (
    <Page title={text.media.filesOf(params.store)} actions={may(mediaUpload) ? <Upload prefix={prefix} /> : undefined}>
      <TextInput
        label={text.media.prefix}
        maw={420}
        value={prefix}
        onChange={({ currentTarget: { value } }) => {
          setPrefix(value);
        }}
      />
      <Problem error={found.error} onRetry={() => void found.refetch()} />
      {found.isSuccess && files.length === 0 ? <Empty step={mediaUpload}>{text.media.noFiles}</Empty> : null}
      {files.length === 0 ? null : (
        <DataTable
          label={text.media.filesOf(params.store)}
          items={files}
          columns={COLUMNS}
          keyOf={({ path }) => path}
          named="path"
          minWidth={720}
        />
      )}
      {found.hasNextPage ? (
        <Group>
          <Button variant="default" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            {text.common.more}
          </Button>
        </Group>
      ) : null}
    </Page>
  );
}

const file = columnHelper<File>();
const COLUMNS = file.columns([
  file.accessor('path', {
    header: text.media.path,
    cell: Wrapped,
  }),
  file.accessor('bytes', { header: text.media.bytes, cell: ({ getValue }) => bytes(getValue()) }),
  file.accessor('content_type', { header: text.media.type }),
  file.accessor('modified_utc', { header: text.media.modified, cell: WhenCell }),
  file.display({ id: 'actions', header: '', cell: ({ row }) => <FileActions file={row.original} /> }),
]);

function FileActions({ file: shown }: { readonly file: File }) {
  const params = useStore();
  const may = useMay();
  const remove = useChange(mediaDelete);
  const { path } = shown;
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <Preview file={shown} />
      {may(mediaDelete) ? (
        <ConfirmButton
          label={text.media.deleteFile}
          short={text.common.delete}
          question={text.media.deleteFileQuestion(path)}
          onConfirm={() => remove.mutateAsync({ params: { ...params, path } })}
          button={{ 'aria-label': text.common.deleteOf(path) }}
        />
      ) : null}
    </Group>
  );
}

/** Shows a picture, and a link for other files. The service's headers say what the browser may do with it. */
function Preview({ file: { path, content_type } }: { readonly file: File }) {
  const params = useStore();
  const [opened, setOpened] = useFormPlace(`file:${path}`);
  const address = targetOf(mediaRead.route, { params: { ...params, path } });
  return (
    <>
      <Button
        variant="default"
        size="xs"
        aria-label={text.media.previewOf(path)}
        onClick={() => {
          setOpened(true);
        }}
      >
        {text.media.preview}
      </Button>
      <Modal
        opened={opened}
        onClose={() => {
          setOpened(false);
        }}
        title={path}
        size="lg"
        closeButtonProps={{ 'aria-label': text.common.close }}
      >
        <Stack>
          {PICTURE_TYPES.includes(content_type) ? (
            <Image src={address} alt={path} mah={480} fit="contain" />
          ) : (
            <Text>{text.media.noPreview}</Text>
          )}
          <Anchor href={address} target="_blank" rel="noreferrer">
            {text.media.open}
          </Anchor>
        </Stack>
      </Modal>
    </>
  );
}

/** Uploads files one after the other, below the current prefix. */
function Upload({ prefix }: { readonly prefix: string }) {
  const params = useStore();
  const upload = useChange(mediaUpload);
  const [name, setName] = useState<string>();
  const send = async (files: readonly globalThis.File[]): Promise<void> => {
    for (const file of files) {
      setName(file.name);
      const body = { contentType: file.type === '' ? BYTES_TYPE : file.type, data: file };
      await upload.mutateAsync({ params: { ...params, path: `${prefix}${file.name}` }, body });
    }
  };
  return (
    <Stack gap="xs">
      <FileButton
        multiple
        onChange={(files) => {
          send(files)
            .catch(() => undefined)
            .finally(() => {
              setName(undefined);
            });
        }}
        inputProps={{ 'aria-label': text.media.upload }}
      >
        {(props) => (
          <Button {...props} loading={name !== undefined}>
            {text.media.upload}
          </Button>
        )}
      </FileButton>
      {name === undefined ? null : (
        <Text role="status" size="sm">
          {text.media.uploading(name)}
        </Text>
      )}
      <Problem error={upload.error} />
    </Stack>
  );
}
