import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { text } from '../../messages/index.js';
import { listUpdate, modelList } from '../../service/client.js';
import { reading, useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { useList, useListParams } from './list-frame.js';

/** That needs not be added. */
const BUILT_IN = 'built-in';

/** What the pictures of the list are compared by, where its records link to any. */
export function PictureModel() {
  const { resources, image_model } = useList();
  const params = useListParams();
  const may = useMay();
  const update = useChange(listUpdate);
  const hasPictures = resources.some(({ kind }) => kind === 'image');
  const isShown = may(listUpdate) && (hasPictures || image_model !== null);
  const { data } = useQuery({
    ...reading(modelList, { params: { account: params.account } }),
    enabled: isShown && may(modelList),
  });
  if (!isShown) return null;
  const ofPictures = (data?.models ?? []).filter(({ inputs }) => inputs.includes('image')).map(({ name }) => name);
  const named = [...new Set([...ofPictures, image_model])].filter((name) => name !== null && name !== BUILT_IN);
  return (
    <Section title={text.pictures.title} lead={text.pictures.lead}>
      <NativeSelect
        maw={480}
        label={text.pictures.model}
        data={[
          { value: '', label: text.pictures.none },
          { value: BUILT_IN, label: text.pictures.builtIn },
          ...named.map(String),
        ]}
        value={image_model ?? ''}
        disabled={update.isPending}
        onChange={({ currentTarget: { value } }) => {
          update.mutate({ params, body: { image_model: value === '' ? null : value } });
        }}
      />
      <Problem error={update.error} />
    </Section>
  );
}
