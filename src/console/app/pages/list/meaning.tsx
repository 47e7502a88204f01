import { Badge, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { text } from '../../messages/index.js';
import { listEmbedRetry, listUpdate, modelList } from '../../service/client.js';
import { reading, useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { count } from '../../ui/format.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { useList, useListParams, type List } from './list-frame.js';

/** Models that exist without being added. */
const BUILT_IN = 'built-in';
const OWN = 'own';

const COLOURS = { off: 'gray', ready: 'green', embedding: 'blue', failing: 'red' } as const;

/** Model by which the list is searched by meaning, and how many records have vectors. */
export function Meaning() {
  const { meaning, ...list } = useList();
  const may = useMay();
  return (
    <Section
      title={text.meaning.title}
      lead={text.meaning.lead}
      actions={
        meaning === undefined ? undefined : (
          <Badge variant="light" color={COLOURS[meaning.state]}>
            {text.meaning.states[meaning.state]}
          </Badge>
        )
      }
    >
      {may(listUpdate) ? <Choices model={list.model} reranker={list.reranker} /> : null}
      {meaning === undefined || meaning.state === 'off' ? <Text c="dimmed">{meaning?.error}</Text> : null}
      {meaning === undefined || meaning.state === 'off' ? null : <Coverage meaning={meaning} />}
    </Section>
  );
}

function Choices({ model, reranker }: Pick<List, 'model' | 'reranker'>) {
  const params = useListParams();
  const may = useMay();
  const update = useChange(listUpdate);
  const { data } = useQuery({
    ...reading(modelList, { params: { account: params.account } }),
    enabled: may(modelList),
  });
  const named = (wanted: string, others: readonly (string | null)[]): string[] => [
    ...new Set([
      ...(data?.models ?? []).filter(({ kind }) => kind === wanted).map(({ name }) => name),
      ...others.filter((name) => name !== null),
    ]),
  ];
  const embedding = named('embedding', [model]).filter((name) => name !== OWN && name !== BUILT_IN);
  return (
    <Stack maw={480}>
      <NativeSelect
        label={text.meaning.model}
        data={[
          { value: '', label: text.meaning.byWords },
          { value: BUILT_IN, label: text.meaning.builtIn },
          { value: OWN, label: text.meaning.own },
          ...embedding,
        ]}
        value={model ?? ''}
        disabled={update.isPending}
        onChange={({ currentTarget: { value } }) => {
          update.mutate({ params, body: { model: value === '' ? null : value } });
        }}
      />
      <NativeSelect
        label={text.meaning.reranker}
        data={[{ value: '', label: text.meaning.noReranker }, ...named('reranker', [reranker])]}
        value={reranker ?? ''}
        disabled={update.isPending}
        onChange={({ currentTarget: { value } }) => {
          update.mutate({ params, body: { reranker: value === '' ? null : value } });
        }}
      />
      <Problem error={update.error} />
    </Stack>
  );
}

function Coverage({ meaning }: { readonly meaning: NonNullable<List['meaning']> }) {
  const params = useListParams();
  const may = useMay();
  const retry = useChange(listEmbedRetry);
  const { embedded, pending, failed, error } = meaning;
  return (
    <>
      <Text role="status">{text.meaning.counts(count(embedded), count(pending), count(failed))}</Text>
      {error === undefined ? null : error in text.meaning.faults ? (
        <Text size="sm" c="dimmed">
          {text.meaning.faults[error]}
        </Text>
      ) : (
        <Problem error={new Error(error)} />
      )}
      {failed > 0 && may(listEmbedRetry) ? (
        <Group>
          <Button
            variant="default"
            size="xs"
            loading={retry.isPending}
            onClick={() => {
              retry.mutate({ params });
            }}
          >
            {text.meaning.retry}
          </Button>
        </Group>
      ) : null}
      {retry.data === undefined ? null : <Text role="status">{text.meaning.retried(count(retry.data.retried))}</Text>}
      <Problem error={retry.error} />
    </>
  );
}
