import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { listUpdate, modelList, type ListUpdateInput, type ModelListOutput } from '../../service/client.js';
import { reading, useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { useListParams } from './list-frame.js';

interface Choice {
  readonly value: string;
  readonly label: string;
}

interface ModelChoiceProps {
  readonly texts: { readonly title: string; readonly lead: string; readonly model: string; readonly none: string };
  /** Name of the model; null for none. */
  readonly chosen: string | null;
  /** True if the list has anything for a model to read. */
  readonly isOfUse: boolean;
  /** Choices besides the models of the account. */
  readonly always?: readonly Choice[];
  readonly suits: (model: ModelListOutput['models'][number]) => boolean;
  readonly change: (name: string | null) => ListUpdateInput['body'];
}

/** Choice of a model of the account for one purpose of the list, for those who may change it. */
export function ModelChoice({ texts, chosen, isOfUse, always = [], suits, change }: ModelChoiceProps) {
  const params = useListParams();
  const may = useMay();
  const update = useChange(listUpdate);
  const isShown = may(listUpdate) && (isOfUse || chosen !== null);
  const { data } = useQuery({
    ...reading(modelList, { params: { account: params.account } }),
    enabled: isShown && may(modelList),
  });
  if (!isShown) return null;
  const suiting = (data?.models ?? []).filter(suits).map(({ name }) => name);
  // Includes the chosen one, even if it is gone or not visible to the person.
  const named = [...new Set([...suiting, ...(chosen === null ? [] : [chosen])])];
  return (
    <Section title={texts.title} lead={texts.lead}>
      <NativeSelect
        maw={480}
        label={texts.model}
        data={[
          { value: '', label: texts.none },
          ...always,
          ...named.filter((name) => !always.some(({ value }) => value === name)),
        ]}
        value={chosen ?? ''}
        disabled={update.isPending}
        onChange={({ currentTarget: { value } }) => {
          update.mutate({ params, body: change(value === '' ? null : value) });
        }}
      />
      <Problem error={update.error} />
    </Section>
  );
}
